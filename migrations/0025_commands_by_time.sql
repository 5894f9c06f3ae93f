-- Answers of commands go after a month; the hourly pass finds the old ones without reading the others.
CREATE INDEX commands_by_time ON operator_commands (answered_at);
