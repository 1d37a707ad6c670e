import { runCommandLine } from './command-line/command-line.js';

const { exitCode, lines } = await runCommandLine(process.argv.slice(2));
(exitCode === 0 ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`);
process.exitCode = exitCode;
