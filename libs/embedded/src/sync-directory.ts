import { open } from 'node:fs/promises';
import { currentSystem } from './operating-system.js';

/** Flushes a folder's file names to disk. Without this, a new or renamed file can be missing after a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  if (!currentSystem.canFlushFolders) return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
