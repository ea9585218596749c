// Runs in a bot's process before the bot: reports that the program is loaded and waits for its turn. See gate.py.
const fs = require("fs");
fs.writeSync(1, "\n");
if (!fs.readSync(0, Buffer.alloc(1))) process.exit();
