module bot

go 1.22
