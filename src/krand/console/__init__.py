"""The organiser's console: surveys from their questions to their report, in a browser.

folder    survey files: reading, and writing only what nobody else has changed
fields    what the console calls kinds of questions and keys of the file
editing   a survey file as these fields, and back; what is wrong with it, by their labels
pages     what pages have in common, and what runs behind them
writing   pages before a survey is published
published pages of one that is
app       the application, served in the loop of the party's worker
"""
