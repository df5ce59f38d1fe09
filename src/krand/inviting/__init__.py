"""Reaching people: links in a table or on a sheet to print, invitations and reminders by mail.

Nothing here keeps a list of who got which code, not even for a moment: codes exist in memory alone.
"""
