"""Web pages: a planner, and a collector's dashboard, which needs a token.

    serving      uvicorn, without any logging of requests
    app          the routes
    guard        checks of every request, headers of every answer
    access       the address of the pages, and the dashboard's token
    planner      the planner's two pages: numbers, survey
    dashboard    a running collector
    workers      processes that plan, and are stopped if they take too long
    worker       the main function of such a process
    tasks        the tasks themselves: from a form to a part of a page

The serving process neither plans nor draws, so it always responds.
"""
