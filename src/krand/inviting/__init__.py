"""Reaching people: invitations and reminders by mail, and slips of paper.

Nothing here keeps a list of who got which code, not even for a moment: codes exist in memory alone.
"""
