/**
 * Whether an error of Node.js has this code, for example 'ENOENT'. Does not use `instanceof Error`, because under Jest these
 * errors come from another realm.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
