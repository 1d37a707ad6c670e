import { parseArgs } from 'node:util';
import { fromWorkingDirectory } from './installation.js';

export const usage = `Usage: npm run restore -- FILE [options]   restores a backup into a stopped installation

  --check           only reads the backup, and checks it with SECRET_KEY
  --erasures FILE   repeats the erasures in a list that npm run backup -- --erasures wrote
  --replace         drops the data of the installation, and repeats its erasures
  --without-key     for a lost SECRET_KEY: restores everything except the values that it encrypted

Uses DATA_DIR and PLATFORM like npm start, or DATABASE_URL, or the URLs of the services. See docs/backup.md.`;

export interface Choices {
  file: string;
  erasures: string | undefined;
  isCheck: boolean;
  isReplacing: boolean;
  isKeyLost: boolean;
}

/** Parses the arguments. Returns undefined if they are invalid. */
export function choose(words: readonly string[]): Choices | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        erasures: { type: 'string' },
        check: { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        'without-key': { type: 'boolean', default: false },
      },
    });
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) return undefined;
    // Recognizing the users in a list of erasures requires the key.
    if (values['without-key'] && values.erasures !== undefined) return undefined;
    return {
      file: fromWorkingDirectory(file),
      erasures: values.erasures === undefined ? undefined : fromWorkingDirectory(values.erasures),
      isCheck: values.check,
      isReplacing: values.replace,
      isKeyLost: values['without-key'],
    };
  } catch {
    return undefined; // parseArgs rejects unknown options
  }
}
