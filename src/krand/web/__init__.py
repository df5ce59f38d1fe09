"""Web pages: how they are served and guarded, what they say of a plan, the form, a site's status.

    serving      uvicorn, without any logging of requests
    app          what all pages have
    guard        checks of every request, headers of every answer
    gate         nothing without the token
    access       the address of the pages, and their token
    planner      what processes compute for pages
    plan_parts   what pages say about a plan; preview and curve are parts of it
    texts        the sentences that pages with numbers put together
    choosing     their language: chosen, or the browser's
    site_page    the status of a site
    workers      processes that plan, and are stopped if they take too long
    worker       the main function of such a process
    tasks        the tasks themselves: from a survey to a part of a page
    form         the survey as a form for people

The organiser's console is a room of its own, `krand.console`. The serving process neither plans nor
draws, so it always responds. Quick bounds have processes of their own, so that they never wait for
a search.
"""
