import { stat } from 'node:fs/promises';
import { unlessMissing } from '@stream-events/embedded';
import {
  checkArchive,
  restore,
  type CheckedArchive,
  type SchemaSession,
  type TargetState,
} from '@stream-events/database/backup';
import type { DatabaseService } from '@stream-events/database/roles';
import {
  addErasures,
  forgetEventsStream,
  forgetUserHashes,
  readErasureList,
  type ErasureList,
} from '@stream-events/events/backup';
import { readConfig, type AllInOneConfig } from '../all-in-one.config.js';
import { backedUpSchemas } from '../databases.js';
import { createDataDirectory, dataDirectory } from '../servers.js';
import {
  readErasureFile,
  recognizes,
  removeErasureFile,
  replacedErasuresPath,
  writeErasureList,
} from './erasure-files.js';
import { explain, openForRestore, readSecretKeys } from './installation.js';
import { choose, usage, type Choices } from './restore-choices.js';

const say = (line: string): void => void process.stdout.write(`  ${line}\n`);

/** The command `npm run restore`. */
export async function runRestore(words: readonly string[]): Promise<void> {
  const choices = choose(words);
  if (!choices) {
    process.stderr.write(`${usage}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    const config = readConfig(process.env);
    const archive = await check(choices, config);
    if (!choices.isCheck) await run(archive, choices, config);
  } catch (error) {
    process.stderr.write(`\nCannot restore: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}

async function check({ file, isKeyLost }: Choices, config: AllInOneConfig): Promise<CheckedArchive> {
  const archive = await checkArchive(file, {
    schemas: Object.values(backedUpSchemas),
    platform: config.PLATFORM,
    readSecretKeys: isKeyLost ? undefined : () => readSecretKeys(config),
    say,
  });
  const { version, createdAt } = archive.manifest;
  const rows = archive.contents.tables.reduce((sum, table) => sum + table.rows, 0);
  say(`The backup is complete: ${rows} rows, as of ${createdAt}, from version ${version}.`);
  if (!isKeyLost) say('SECRET_KEY decrypts all secrets in the backup that the service cannot replace.');
  return archive;
}

async function run(archive: CheckedArchive, choices: Choices, config: AllInOneConfig): Promise<void> {
  const startedAt = performance.now();
  await createDataDirectory(config);
  const replacedPath = replacedErasuresPath(dataDirectory(config));
  const lists = await readLists(archive, choices, replacedPath);
  const database = await openForRestore(config, say);
  let repeated = 0;
  try {
    const services = Object.keys(backedUpSchemas) as DatabaseService[]; // Safe cast: backedUpSchemas has exactly these keys.
    const { rows, skipped } = await restore(archive, {
      targets: services.map((service) => ({
        schema: backedUpSchemas[service],
        url: database.urlFor(service),
      })),
      say,
      onState: async (state, sessions) => {
        const replaced = await permit(state, choices, eventsOf(sessions));
        if (!replaced || replaced.erasures.length === 0) return;
        if (choices.isKeyLost || !recognizes(archive, replaced)) {
          say(
            'The erasures of the replaced data are not repeated, because the backup has no key that recognizes the users. If the backup contains data of these users, request the erasures again',
          );
          return;
        }
        await writeErasureList(replacedPath, replaced);
        lists.push(replaced);
      },
      onLoaded: async (sessions) => {
        const { client } = eventsOf(sessions);
        await forgetEventsStream(client);
        if (choices.isKeyLost) await forgetSecrets(sessions);
        for (const list of lists) repeated += await addErasures(client, list);
      },
    });
    await removeErasureFile(replacedPath);
    const seconds = (performance.now() - startedAt) / 1_000;
    say(`Restored ${rows} rows in ${seconds.toFixed(1)} s`);
    if (skipped.length > 0) say(`Not restored, because the service has no such table: ${skipped.join(', ')}`);
    if (repeated > 0) say(`${repeated} erasures from after the backup run again when the service starts`);
    if (choices.erasures === undefined) say(describeUnknownErasures(archive, choices, lists.length > 0));
    say('Start the service. Clients that resume from a position before the restore get a gap.');
  } finally {
    await database.close();
  }
}

/** Says which erasures a restore without `--erasures` cannot know, so that the operator repeats them. */
function describeUnknownErasures(
  { manifest }: CheckedArchive,
  { isKeyLost }: Choices,
  hasReplaced: boolean,
): string {
  const known = hasReplaced ? ', except those of the replaced data' : '';
  const remedy = isKeyLost
    ? 'Request them again'
    : 'If npm run backup -- --erasures LIST saved them, restore again with --replace --erasures LIST. If not, request them again';
  return `Erasures that were requested after ${manifest.createdAt}, the time of the backup, are unknown${known}: the data of their users is back. ${remedy}`;
}

/**
 * Deletes the values that only the lost key can decrypt. Otherwise the services would refuse to start. See "A SECRET_KEY is lost" in
 * docs/security.md.
 */
async function forgetSecrets(sessions: readonly SchemaSession[]): Promise<void> {
  for (const { name, encryptedColumns } of Object.values(backedUpSchemas)) {
    const session = sessions.find(({ schema }) => schema === name);
    for (const { table, column, isReplaceable } of encryptedColumns) {
      if (isReplaceable) continue;
      await session?.client.query(`DELETE FROM ${name}.${table} WHERE ${column} IS NOT NULL`);
    }
  }
  await forgetUserHashes(eventsOf(sessions).client);
  say('Deleted the main tokens and the channel connections, which only the lost key could decrypt');
}

function eventsOf(sessions: readonly SchemaSession[]): SchemaSession {
  const session = sessions.find(({ schema }) => schema === backedUpSchemas.events.name);
  if (!session) throw new Error('there is no session for the events service');
  return session;
}

/** Reads the operator's list of erasures and the list that an interrupted restore saved. */
async function readLists(
  archive: CheckedArchive,
  { erasures }: Choices,
  replacedPath: string,
): Promise<ErasureList[]> {
  const hasReplaced = (await unlessMissing(stat(replacedPath))) !== undefined;
  const paths = [...(erasures === undefined ? [] : [erasures]), ...(hasReplaced ? [replacedPath] : [])];
  const lists: ErasureList[] = [];
  for (const path of paths) {
    const list = await readErasureFile(path);
    if (!recognizes(archive, list))
      throw new Error(
        `the erasures in ${path} and the backup are from different installations: the keys of the backup do not recognize the users`,
      );
    lists.push(list);
  }
  return lists;
}

/**
 * Checks whether the restore can proceed, and throws if not. Returns the erasures of the data to replace; undefined if there is no such
 * data.
 */
async function permit(
  state: TargetState,
  { isReplacing }: Choices,
  { client }: SchemaSession,
): Promise<ErasureList | undefined> {
  if (state === 'empty') return undefined;
  if (state === 'interrupted') {
    say('An earlier restore was interrupted: starting over');
    return undefined;
  }
  if (!isReplacing)
    throw new Error(
      'the installation already contains data. Use a new DATA_DIR or database, or replace the data with --replace',
    );
  return readErasureList(client);
}
