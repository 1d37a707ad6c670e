/** The syntax of the printed commands for the usual shell of an operating system. */
export interface Shell {
  /** Returns a command that sets a variable for the following commands. The value is a word, or a command from `readField`. */
  set(name: string, value: string): string;
  /** Returns the prefix that sets a variable for one command. */
  prefix(name: string, value: string): string;
  /** Returns a command that reads a field from a file. Each line of the file is the name of a field, spaces, and its value. */
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

/** Returns PowerShell on Windows, otherwise a POSIX shell. */
export function shellOf(platform: NodeJS.Platform): Shell {
  return platform === 'win32' ? powerShell : posixShell;
}
