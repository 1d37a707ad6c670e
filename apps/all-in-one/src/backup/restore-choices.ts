import { parseArgs } from 'node:util';
import { fromWorkingDirectory } from './installation.js';

export const usage = `Usage: npm run restore -- FILE [options]   restores a backup into a stopped installation

  --check           only reads the backup, and checks it with SECRET_KEY
  --erasures FILE   repeats the erasures of a list that npm run backup -- --erasures has written
  --replace         drops the data that the installation has; its erasures are repeated
  --without-key     SECRET_KEY is lost: restores everything but what it encrypted

Uses DATA_DIR and PLATFORM like npm start, or DATABASE_URL, or the URLs of the services. See docs/backup.md.`;

/** What `npm run restore` is told to do. */
export interface Choices {
  file: string;
  erasures: string | undefined;
  isCheck: boolean;
  isReplacing: boolean;
  isKeyLost: boolean;
}

/** Reads the arguments of the command. Undefined when they are wrong. */
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
    // Without the key, nothing recognizes the hashes of a list.
    if (values['without-key'] && values.erasures !== undefined) return undefined;
    return {
      file: fromWorkingDirectory(file),
      erasures: values.erasures === undefined ? undefined : fromWorkingDirectory(values.erasures),
      isCheck: values.check,
      isReplacing: values.replace,
      isKeyLost: values['without-key'],
    };
  } catch {
    return undefined; // an unknown option
  }
}
