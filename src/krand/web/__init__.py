"""Pages: a planner for everybody who can reach them, a collector's dashboard for who has the token.

    serving      uvicorn, told to keep nothing about anybody
    app          which address leads to which page
    guard        what every request and every answer must obey
    access       where the pages are, and the dashboard's token
    planner      the planner's two pages: numbers, survey
    dashboard    a running collector
    workers      processes that plan, and are stopped when it takes too long
    worker       what such a process does
    tasks        the jobs themselves: from a form to a part of a page

The serving process neither plans nor draws, so that it always answers.
"""
