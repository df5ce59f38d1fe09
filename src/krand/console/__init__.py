"""The organiser's console: surveys in a folder, from their questions to their report, in a browser.

folder    one survey: its files, how far it is, writing only what nobody else has changed
fields    what the console calls kinds of questions and keys of the file
editing   a survey file as these fields, and back; what is wrong with it, by their labels
commands  krand's own commands, which do everything that the pages offer beside writing a file
running   what a survey that is published does now
writing   pages before a survey is published
published pages of one that is
mailing   invitations and reminders by mail
pages     what they have in common
site      the same for surveys that krand run runs
app       the application
"""
