import { open } from 'node:fs/promises';
import { currentSystem } from './operating-system.js';

/** Flushes the names of the files in a folder to disk. A new or renamed file can otherwise be missing after a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  if (!currentSystem.canFlushFolders) return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
