/** How the printed commands set variables, for the shell that people use on a system. */
export interface Shell {
  /** A command that sets a variable for the commands after it. The value is a word, or a command from `readField`. */
  set(name: string, value: string): string;
  /** What sets a variable for the command after it. */
  prefix(name: string, value: string): string;
  /** The value of a field in a file with one field per line: its name, spaces, and its value. */
  readField(path: string, field: string): string;
  curl: string;
}

const posixShell: Shell = {
  set: (name, value) => `${name}=${value}`,
  prefix: (name, value) => `${name}=${value} `,
  readField: (path, field) => `$(awk '$1 == "${field}" { print $2 }' "${path}")`,
  curl: 'curl',
};

const powerShell: Shell = {
  set: (name, value) => `$${name} = ${value.startsWith('(') ? value : `'${value}'`}`,
  prefix: (name, value) => `$env:${name} = '${value}'; `,
  readField: (path, field) => `(-split (Select-String '^${field} ' '${path}').Line)[1]`,
  // In PowerShell, `curl` may be another command.
  curl: 'curl.exe',
};

/** PowerShell on Windows, otherwise a POSIX shell. */
export function shellOf(platform: NodeJS.Platform): Shell {
  return platform === 'win32' ? powerShell : posixShell;
}
