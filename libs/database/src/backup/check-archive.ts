import { createHash } from 'node:crypto';
import { SecretBox } from '@stream-events/service';
import type { EncryptedColumn } from '../encrypted-columns.js';
import { readArchive, readText, type ArchiveEntry } from './archive-reader.js';
import {
  ArchiveError,
  contentsName,
  folderOf,
  manifestName,
  parseContents,
  parseManifest,
  type ArchivedTable,
  type BackedUpSchema,
  type Contents,
  type Manifest,
} from './archive.js';
import { readRows } from './copy-text.js';
import { Progress } from './progress.js';

/** An archive that has passed all checks, so that this version can restore it with the given keys. */
export interface CheckedArchive {
  path: string;
  manifest: Manifest;
  contents: Contents;
  /** The ids of all rows in tables with encrypted columns, by `<schema>/<table>`. */
  encryptedRows: ReadonlyMap<string, readonly string[]>;
}

export interface CheckOptions {
  schemas: readonly BackedUpSchema[];
  platform: string;
  /**
   * Reads the keys of `SECRET_KEY`; called once the archive is known to belong to the platform. Undefined when `SECRET_KEY` is lost; the
   * secrets are then not checked.
   */
  readSecretKeys: (() => Promise<readonly string[]>) | undefined;
  say: (line: string) => void;
}

/**
 * Reads the whole archive before anything is written, and checks what a restore relies on. The file must be complete and undamaged and
 * belong to the platform. This version must know all its migrations, beginning with the same one. `SECRET_KEY`, unless it is lost, must
 * decrypt every secret that the service cannot replace.
 *
 * @throws ArchiveError
 */
export async function checkArchive(path: string, options: CheckOptions): Promise<CheckedArchive> {
  const sums = new Map<string, string>();
  const encryptedRows = new Map<string, readonly string[]>();
  const progress = new Progress(options.say, 'Checked');
  let box: SecretBox | undefined;
  let manifest: Manifest | undefined;
  let contents: Contents | undefined;
  for await (const { name, content } of readArchive(path)) {
    if (name === manifestName) {
      manifest = parseManifest(await readText(content));
      refuseUnknown(manifest, options);
      if (options.readSecretKeys) box = new SecretBox(await options.readSecretKeys());
    } else if (!manifest)
      throw new ArchiveError(`${path} is not a backup: it does not begin with ${manifestName}.`);
    else if (name === contentsName) contents = parseContents(await readText(content));
    else {
      const hash = createHash('sha256');
      const hashed = hashing(hash, progress.count(name, content));
      const ids = await checkSecrets({ name, content: hashed }, manifest, { ...options, box });
      if (ids) encryptedRows.set(name, ids);
      sums.set(name, hash.digest('hex'));
    }
  }
  if (!manifest || !contents)
    throw new ArchiveError(`${path} is incomplete: it has no ${contentsName}. Use another backup.`);
  compareSums(contents, sums);
  return { path, manifest, contents, encryptedRows };
}

function refuseUnknown({ platform, version, schemas }: Manifest, options: CheckOptions): void {
  if (platform !== options.platform)
    throw new ArchiveError(
      `The backup has the data of platform ${platform}, but PLATFORM is ${options.platform}. Set PLATFORM=${platform}.`,
    );
  for (const known of options.schemas) {
    const archived = schemas.find(({ name }) => name === known.name);
    if (!archived) throw new ArchiveError(`The backup has no schema ${known.name}.`);
    const names = known.migrations.map(({ name }) => name);
    if (archived.migrations[0] !== names[0])
      throw new ArchiveError(
        `Another version wrote the backup: its schema ${known.name} has the migration ${archived.migrations[0]}, and this version knows ${names[0]}. ` +
          'Nothing was changed. Before 1.0.0, no version reads the data of another. Restore the backup with the version that wrote it.',
      );
    const unknown = archived.migrations.filter((name) => !names.includes(name));
    if (unknown.length > 0)
      throw new ArchiveError(
        `A newer version wrote the backup (${version}): this version does not know the migration ${unknown.join(', ')}. Restore the backup with that version or a later one.`,
      );
  }
}

async function* hashing(
  hash: { update(chunk: Buffer): unknown },
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/**
 * Checks that a table's secrets can be decrypted, and returns the ids of all its rows. Returns undefined when the table has no encrypted
 * columns.
 */
async function checkSecrets(
  { name, content }: ArchiveEntry,
  manifest: Manifest,
  { schemas, box }: Pick<CheckOptions, 'schemas'> & { box: SecretBox | undefined },
): Promise<string[] | undefined> {
  const table = findTable(manifest, name);
  const columns = schemas.flatMap((schema) =>
    schema.encryptedColumns.filter((column) => folderOf(schema.name, column.table) === name),
  );
  if (!table)
    throw new ArchiveError(`The archive has rows of ${name}, but ${manifestName} does not list this table.`);
  if (columns.length === 0) {
    for await (const _chunk of content);
    return undefined;
  }
  const ids: string[] = [];
  let unknown = 0;
  for await (const row of readRows(content)) {
    const valueOf = (column: string): string | null => row[table.columns.indexOf(column)] ?? null;
    const isKnown = columns.every((column) => !box || canOpen(column, valueOf, box));
    if (!isKnown) unknown += 1;
    ids.push(valueOf(columns[0]?.boundTo ?? '') ?? '');
  }
  if (unknown > 0)
    throw new ArchiveError(
      `SECRET_KEY does not decrypt the secrets in ${unknown} of the ${ids.length} rows of ${name}. Use the SECRET_KEY that you had at the time of the backup. ` +
        'If it is lost, add --without-key: see docs/backup.md.',
    );
  return ids;
}

function canOpen(
  { column, boundTo, isReplaceable }: EncryptedColumn,
  valueOf: (column: string) => string | null,
  box: SecretBox,
): boolean {
  const [value, id] = [valueOf(column), valueOf(boundTo)];
  // Needs no key: there is no value, or the service replaces a value that it cannot decrypt.
  if (value === null || id === null || isReplaceable) return true;
  return box.open(value, id) !== undefined;
}

function findTable({ schemas }: Manifest, folder: string): ArchivedTable | undefined {
  return schemas
    .flatMap(({ name, tables }) => tables.map((table) => ({ folder: folderOf(name, table.name), table })))
    .find((candidate) => candidate.folder === folder)?.table;
}

function compareSums(contents: Contents, sums: ReadonlyMap<string, string>): void {
  const damaged = contents.tables.filter(
    ({ schema, table, sha256 }) => sums.get(folderOf(schema, table)) !== sha256,
  );
  if (damaged.length > 0 || sums.size !== contents.tables.length)
    throw new ArchiveError(
      `The archive is damaged: the checksums of ${damaged.map(({ schema, table }) => `${schema}.${table}`).join(', ') || 'its tables'} do not match. Use another backup.`,
    );
}
