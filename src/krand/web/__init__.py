"""Web pages: how they are served and guarded, what they say of a plan, the form, a site's status.

    access       the address of the pages, their token, and uvicorn, which logs no request
    app          what all pages have, and in which language
    guard        checks of every request, headers of every answer, nothing without the token
    forms        forms as browsers send them
    pages        templates and static files
    workers      processes that plan, and are stopped if they take too long
    worker       the main function of such a process: from a survey to a part of a page
    plan_parts   what pages say about a plan
    site_page    the status of a site
    mixer_page   the page of a mixer's service
    form         the survey as a form for people

The organiser's console is a room of its own, `krand.console`. The serving process neither plans nor
draws, so it always responds.
"""
