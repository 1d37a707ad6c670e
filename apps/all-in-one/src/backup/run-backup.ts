import { stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  backUp,
  closeSessions,
  openSessions,
  refuseIncompleteRestores,
} from '@stream-events/database/backup';
import type { DatabaseService } from '@stream-events/database/roles';
import { unlessMissing } from '@stream-events/embedded';
import { readErasureList, type ErasureList } from '@stream-events/events/backup';
import { version } from '@stream-events/service';
import { usesOwnDatabase, type AllInOneConfig } from '../all-in-one.config.js';
import { readCommandConfig } from '../command-config.js';
import { backedUpSchemas } from '../databases.js';
import { secretKeyPath, dataDirectory } from '../servers.js';
import { readErasureFile, writeErasureList } from './erasure-files.js';
import { explain, fromWorkingDirectory, openForBackup, type OpenDatabase } from './installation.js';

const usage = `Usage: npm run backup -- FILE              writes all data of the service to one new file
       npm run backup -- --erasures FILE   writes the list of erasures, to repeat them after a restore; replaces the file

The service can keep running. Uses DATA_DIR and PLATFORM like npm start, or DATABASE_URL, or the URLs of the services. See docs/backup.md.`;

const say = (line: string): void => void process.stdout.write(`  ${line}\n`);

/** The command `npm run backup`. */
export async function runBackup(words: readonly string[]): Promise<void> {
  const choice = chooseFile(words);
  if (!choice) {
    process.stderr.write(`${usage}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    // A backup needs no key, so the backup machine does not have to know it.
    const config = await readCommandConfig(process.env, { needsSecretKey: false });
    const database = await openForBackup(config, say);
    try {
      if (choice.isList) await saveErasures(choice.path, database);
      else await saveAll(choice.path, database, config);
    } finally {
      await database.close();
    }
  } catch (error) {
    process.stderr.write(`\nCannot back up: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}

function chooseFile(words: readonly string[]): { path: string; isList: boolean } | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { erasures: { type: 'string' } },
    });
    const files = [...positionals, ...(values.erasures === undefined ? [] : [values.erasures])];
    const [file] = files;
    if (file === undefined || file === '' || files.length > 1) return undefined;
    return { path: fromWorkingDirectory(file), isList: values.erasures !== undefined };
  } catch {
    return undefined; // parseArgs rejects unknown options
  }
}

async function saveAll(path: string, database: OpenDatabase, config: AllInOneConfig): Promise<void> {
  const startedAt = performance.now();
  const services = Object.keys(backedUpSchemas) as DatabaseService[]; // Safe cast: backedUpSchemas has exactly these keys.
  const { tables } = await backUp(path, {
    accesses: services.map((service) => ({
      schema: backedUpSchemas[service].name,
      url: database.urlFor(service),
    })),
    platform: config.PLATFORM,
    version,
    say,
  });
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const seconds = (performance.now() - startedAt) / 1_000;
  say(`${path}: ${rows} rows of ${tables.length} tables in ${seconds.toFixed(1)} s`);
  const key =
    usesOwnDatabase(config) || config.SECRET_KEY
      ? 'SECRET_KEY'
      : `SECRET_KEY (${secretKeyPath(dataDirectory(config))})`;
  say(`The file does not contain ${key}. A complete restore needs this key, so keep a copy elsewhere.`);
}

async function saveErasures(path: string, database: OpenDatabase): Promise<void> {
  const access = { schema: backedUpSchemas.events.name, url: database.urlFor('events') };
  const sessions = await openSessions([access], 'backup');
  try {
    // After an interrupted restore, this list would be incomplete and would overwrite a complete one.
    await refuseIncompleteRestores(sessions);
    const [session] = sessions;
    const list = session && (await readErasureList(session.client));
    if (!list) throw new Error('there are no erasures to save, because the events service was never started');
    await refuseLoss(path, list);
    await writeErasureList(path, list);
    say(`${path}: ${list.erasures.length} erasures`);
  } finally {
    await closeSessions(sessions);
  }
}

/**
 * Refuses to overwrite the file if it lists erasures that the database does not have. A database keeps its erasures forever, so such a
 * database is new or was restored without these erasures. The file may then be the only record of whom to erase.
 *
 * @throws Error when the file lists erasures that are not in `list`
 */
async function refuseLoss(path: string, list: ErasureList): Promise<void> {
  if (!(await unlessMissing(stat(path)))) return;
  const known = new Set(list.erasures.map(({ id }) => id));
  const { erasures } = await readErasureFile(path);
  const missing = erasures.filter(({ id }) => !known.has(id)).length;
  if (missing > 0)
    throw new Error(
      `${path} lists ${missing} erasures that this database lacks: the list is from another database, or this database was restored from a backup. ` +
        'To save the erasures of this database, choose another file. To repeat the listed erasures, restore the backup with --erasures.',
    );
}
