/** Formats commands for the operating system's usual shell. */
export interface Shell {
  /** Formats a command that sets a variable for later commands. The value is a word, or a command from `readField`. */
  set(name: string, value: string): string;
  /** Formats the prefix that sets a variable for one command. */
  prefix(name: string, value: string): string;
  /** Formats a command that reads a field from a file. Each line of the file has a field name, spaces, and the value. */
  readField(path: string, field: string): string;
  curl: string;
}

const posixShell: Shell = {
  set: (name, value) => `${name}=${value}`,
  prefix: (name, value) => `${name}=${quote(value)} `,
  readField: (path, field) => `$(awk '$1 == "${field}" { print $2 }' "${path}")`,
  curl: 'curl',
};

const powerShell: Shell = {
  set: (name, value) => `$${name} = ${value.startsWith('(') ? value : `'${value}'`}`,
  prefix: (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'; `,
  readField: (path, field) => `(-split (Select-String '^${field} ' '${path}').Line)[1]`,
  // In Windows PowerShell, `curl` is an alias of another command.
  curl: 'curl.exe',
};

/** Quotes a word of a POSIX shell if it contains special characters. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellOf(platform: NodeJS.Platform): Shell {
  return platform === 'win32' ? powerShell : posixShell;
}
