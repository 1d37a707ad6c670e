/**
 * Whether an error of Node.js has this code, for example 'ENOENT'. Does not use `instanceof Error`, because under Jest these
 * errors come from another realm.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Returns the result of file operations. Returns undefined when the file does not exist, and throws any other error. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
