STEPS = (
    "Open the settings",
    "Choose a theme",
    "Invite your team",
)
