"""Web pages: a planner, and a collector's dashboard, which needs a token.

    serving      uvicorn, without any logging of requests
    app          the routes
    guard        checks of every request, headers of every answer
    access       the address of the pages, and the dashboard's token
    planner      the planner's pages: plan a survey, a survey file, numbers
    survey_form  the first page's form, and the survey that it becomes
    plan_parts   what pages say about a plan; advice and preview are parts of it
    recipes      the survey as a script and as a notebook
    texts        the sentences that the planner puts together
    dashboard    a running collector
    workers      processes that plan, and are stopped if they take too long
    worker       the main function of such a process
    tasks        the tasks themselves: from a form to a part of a page

The serving process neither plans nor draws, so it always responds. Quick bounds have processes of
their own, so that they never wait for a search.
"""
