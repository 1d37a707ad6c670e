import { parseArgs } from 'node:util';
import type { Command, CommandInput } from './command.js';
import { optionsOf } from './command.js';
import { commands } from './commands.js';
import { CommandError, ControlClient } from './control-client.js';

/** What the command line prints and how it ends. */
export interface CommandResult {
  exitCode: 0 | 1 | 2;
  lines: string[];
}

const defaultUrl = 'http://127.0.0.1:8100';

/** Runs one command. Exit code 1: it could not be done; 2: it was not understood. */
export async function runCommandLine(words: string[]): Promise<CommandResult> {
  const [name = 'help', ...rest] = words;
  if (['help', '--help', '-h'].includes(name)) return { exitCode: 0, lines: printHelp() };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return misunderstood(`There is no command ${name}.`, printHelp());
  if (rest.includes('--help') || rest.includes('-h'))
    return { exitCode: 0, lines: printUsage(name, command) };
  const input = readInput(command, rest);
  if (typeof input === 'string') return misunderstood(input, printUsage(name, command));
  try {
    return { exitCode: 0, lines: await command.run(input) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { exitCode: 1, lines: [error.message] };
  }
}

/** The words and options; a text that says what is wrong with them. */
function readInput(command: Command, args: string[]): CommandInput | string {
  const [least, most] = command.words;
  try {
    const options = { ...optionsOf(command), url: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length < least) return 'Something is missing.';
    if (positionals.length > most) return `That is too much: ${positionals.slice(most).join(' ')}`;
    const { url = defaultUrl, ...given } = values as Record<string, string | boolean | undefined>;
    if (typeof url !== 'string' || !URL.canParse(url)) return `--url must be an address like ${defaultUrl}`;
    return { client: new ControlClient(url.replace(/\/+$/, '')), words: positionals, options: given };
  } catch (error) {
    // The only thing that fails here is the reading of options, and its message says which.
    return `${(error as Error).message.split('.')[0]}.`;
  }
}

function misunderstood(fault: string, help: string[]): CommandResult {
  return { exitCode: 2, lines: [fault, '', ...help] };
}

function printHelp(): string[] {
  const rows = Object.entries(commands).map(([name, { usage, help }]) => [`${name} ${usage}`, help] as const);
  return [
    'Controls a running SIMULATION of the streaming platform.',
    '',
    'npm run simulator -- <command> [--url http://127.0.0.1:8100]',
    '',
    ...columns(rows),
    '',
    'Options of a command: npm run simulator -- <command> --help',
  ];
}

function printUsage(name: string, { usage, help, options }: Command): string[] {
  const rows = Object.entries(options).map(
    ([option, { type, help: meaning }]) => [`--${option}${type === 'string' ? ' …' : ''}`, meaning] as const,
  );
  return [
    `npm run simulator -- ${name} ${usage}`.trimEnd(),
    help,
    ...(rows.length > 0 ? ['', ...columns(rows)] : []),
  ];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
}
