import type { EncryptedColumn } from '../encrypted-columns.js';
import type { Migration } from '../schema-migration.js';

/**
 * The format of a backup: a gzip-compressed tar archive, which `tar xzf` can unpack.
 *
 * ```
 *  manifest.json                  what the archive holds; the first file
 *  <schema>/<table>/000001.copy   rows in the text format of COPY, in parts of about 8 MiB; every table has at least one part
 *  contents.json                  rows, bytes, and SHA-256 of every table; the last file: without it, the archive is incomplete
 * ```
 */
export const archiveFormat = 1;

export const manifestName = 'manifest.json';
export const contentsName = 'contents.json';

/** What a backup needs to know about a service's schema. */
export interface BackedUpSchema {
  name: string;
  migrations: readonly Migration[];
  /** After a restore, `SECRET_KEY` must decrypt the values in these columns. */
  encryptedColumns: readonly EncryptedColumn[];
}

/** The ids of a partition: `from` is inclusive, `to` is exclusive. */
export interface PartitionRange {
  from: string;
  to: string;
}

export interface ArchivedTable {
  name: string;
  /** In the order of the values in each row. */
  columns: string[];
  /** Null unless the table is a partition. */
  partition: ({ of: string } & PartitionRange) | null;
}

export interface ArchivedSchema {
  name: string;
  /** The migrations that the schema had when it was backed up, in the order in which they ran. */
  migrations: string[];
  /** Each table comes after the tables that it references. */
  tables: ArchivedTable[];
}

export interface Manifest {
  /** See `archiveFormat`. */
  format: number;
  /** The version of the service that wrote the archive. */
  version: string;
  createdAt: string;
  platform: string;
  schemas: ArchivedSchema[];
}

/** Size and checksum of a table's rows in the archive. */
export interface TableContents {
  schema: string;
  table: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/** The state of an identity column's sequence. */
export interface SequenceState {
  schema: string;
  table: string;
  column: string;
  lastValue: string;
  isCalled: boolean;
}

export interface Contents {
  tables: TableContents[];
  sequences: SequenceState[];
}

/** A backup cannot be made, or an archive cannot be restored. The message says why, and often what to do. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** Returns the file name of a part of a table's rows. */
export function partName(folder: string, part: number): string {
  return `${folder}/${String(part).padStart(6, '0')}.copy`;
}

/** Returns the folder of a table's rows. */
export function folderOf(schema: string, table: string): string {
  return `${schema}/${table}`;
}

// Names that become part of an SQL statement must match this pattern.
const identifier = /^[a-z_][a-z0-9_]*$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws ArchiveError when the text is not JSON, has the format of another version, or contains invalid names or ids */
export function parseManifest(text: string): Manifest {
  // Safe cast: `backUp` wrote the manifest, unless its format differs. The code below checks names that become part of SQL.
  const manifest = parse(text, manifestName) as Manifest;
  if (manifest.format !== archiveFormat)
    throw new ArchiveError(
      `The archive has the format ${manifest.format}, but this version reads format ${archiveFormat}. Restore the archive with version ${manifest.version}, which wrote it.`,
    );
  for (const { name, tables } of manifest.schemas) {
    const names = tables.flatMap((table) => [table.name, table.partition?.of ?? name, ...table.columns]);
    const ids = tables.flatMap(({ partition }) => (partition ? [partition.from, partition.to] : []));
    if (![name, ...names].every((value) => identifier.test(value)) || !ids.every((id) => uuid.test(id)))
      throw new ArchiveError(`${manifestName} describes tables that no version of the service has.`);
  }
  return manifest;
}

/** @throws ArchiveError when the text is not JSON or contains invalid names */
export function parseContents(text: string): Contents {
  const contents = parse(text, contentsName) as Contents; // Safe cast: as above.
  const names = contents.sequences.flatMap(({ schema, table, column }) => [schema, table, column]);
  if (!names.every((name) => identifier.test(name)))
    throw new ArchiveError(`${contentsName} describes columns that no version of the service has.`);
  return contents;
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ArchiveError(`${name} in the archive is not JSON.`, { cause });
  }
}
