def render(template, values):
    for name, value in values.items():
        template = template.replace("{{{ " + name + " }}}", str(value))
        template = template.replace("{{ " + name + " }}", str(value))
    return template
