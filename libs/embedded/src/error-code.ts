/**
 * Whether an error of Node's own carries this code, e.g. 'ENOENT'. Without `instanceof Error`: below Jest those
 * errors come from another realm.
 */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
