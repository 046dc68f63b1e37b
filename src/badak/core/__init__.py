"""What every package stands on: errors, environment variables, signals, the language of messages, events, the public names."""
