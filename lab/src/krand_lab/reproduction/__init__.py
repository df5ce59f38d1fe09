"""The five drafts, number by number and figure by figure, beside what they should say."""
