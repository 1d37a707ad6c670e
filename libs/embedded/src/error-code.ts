/**
 * Whether a Node.js error has this code, for example 'ENOENT'. Avoids `instanceof Error`, which fails under Jest because errors come from
 * another realm.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Returns undefined if the file does not exist. Rethrows any other error. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
