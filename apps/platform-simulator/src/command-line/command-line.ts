import { parseArgs } from 'node:util';
import type { Command, CommandInput } from './command.js';
import { commands } from './commands.js';
import { CommandError, ControlClient } from './control-client.js';
import { addressSimulator, findSimulator } from './running-simulator.js';

export interface CommandResult {
  exitCode: 0 | 1 | 2;
  lines: string[];
}

/** Runs one command. Exit code 1 means that the command failed, 2 that the command line is wrong. */
export async function runCommandLine(
  words: string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<CommandResult> {
  const [name = 'help', ...rest] = words;
  if (['help', '--help', '-h'].includes(name)) return { exitCode: 0, lines: printHelp() };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return reject(`Unknown command: ${name}`, printHelp());
  if (rest.includes('--help') || rest.includes('-h'))
    return { exitCode: 0, lines: printUsage(name, command) };
  const input = parseInput(command, rest);
  if (typeof input === 'string') return reject(input, printUsage(name, command));
  const { url, ...given } = input;
  try {
    const address = url === undefined ? await findSimulator(environment) : addressSimulator(url, environment);
    const client = new ControlClient(address);
    return { exitCode: 0, lines: await command.run({ ...given, client }) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { exitCode: 1, lines: [error.message] };
  }
}

/** Returns an error message if the command line is wrong. */
function parseInput(
  command: Command,
  args: string[],
): (Omit<CommandInput, 'client'> & { url: string | undefined }) | string {
  const { words: [least, most] = [0, 0], options = {}, flags = {} } = command;
  try {
    const types = {
      ...toTypes(options, 'string'),
      ...toTypes(flags, 'boolean'),
      url: { type: 'string' },
    } as const;
    const { values, positionals } = parseArgs({ args, options: types, allowPositionals: true });
    if (positionals.length < least) return 'An argument is missing.';
    if (positionals.length > most) return `Unexpected argument: ${positionals.slice(most).join(' ')}`;
    const { url, ...given } = values as Record<string, string | boolean | undefined>; // Safe cast: parseArgs returns only these types.
    if (url !== undefined && !(typeof url === 'string' && URL.canParse(url)))
      return '--url must be a URL, such as http://127.0.0.1:8100';
    return { url: url?.replace(/\/+$/, ''), words: positionals, options: given };
  } catch (error) {
    // Only parseArgs throws here. The first sentence of its message names the wrong option.
    return `${(error as Error).message.split('.')[0]}.`;
  }
}

function toTypes<Type>(options: object, type: Type): Record<string, { type: Type }> {
  return Object.fromEntries(Object.keys(options).map((name) => [name, { type }]));
}

function reject(fault: string, help: string[]): CommandResult {
  return { exitCode: 2, lines: [fault, '', ...help] };
}

function printHelp(): string[] {
  const rows = Object.entries(commands).map(
    ([name, { usage = '', help }]) => [`${name} ${usage}`, help] as const,
  );
  return [
    'Controls the SIMULATED streaming platform that npm start runs.',
    '',
    'Usage: npm run simulator -- <command> [options]',
    '',
    ...columns(rows),
    '',
    'Without --url <address>, a command controls the simulator that npm start runs with the same DATA_DIR (default .data).',
    'For any other simulator, pass --url, and set SIMULATOR_CONTROL_SECRET or SIMULATOR_CONTROL_SECRET_FILE to the control',
    'secret of that simulator, or to the file that contains the secret.',
    'Options of a command: npm run simulator -- <command> --help',
  ];
}

function printUsage(name: string, { usage = '', help, options = {}, flags = {} }: Command): string[] {
  const rows = [
    ...Object.entries(options).map(([option, meaning]) => [`--${option} <value>`, meaning] as const),
    ...Object.entries(flags).map(([flag, meaning]) => [`--${flag}`, meaning] as const),
  ];
  return [
    `Usage: npm run simulator -- ${name} ${usage}`.trimEnd(),
    help,
    ...(rows.length > 0 ? ['', ...columns(rows)] : []),
  ];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
}
