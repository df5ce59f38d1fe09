"""The survey as a form that people answer in a browser.

site      the files of a plan's form: page, script, style, plan, signatures
static    script and style, built from clients/js (npm run build); the style is written here
"""
