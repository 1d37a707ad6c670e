import { ServiceError } from '@stream-events/contracts';

const minDifferent = 5;
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '1234567890',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
];
const commonWords = ['password', 'passwort', 'letmein', 'welcome', 'iloveyou', 'administrator'];
// Characters that people append to a common word to make it long enough.
const filler = /[\d\s!@#$%^&*().,_+=?-]/g;

/**
 * Rejects passwords that guessing programs try first. The request validation checks the length.
 *
 * @throws ServiceError `invalid` on the field
 */
export function refuseWeakPassword(field: string, password: string, username: string): void {
  const fault = findFault(password.toLowerCase(), username.toLowerCase());
  if (fault !== undefined) throw ServiceError.onField(field, fault);
}

function findFault(password: string, username: string): string | undefined {
  if (password === username) return 'must not be the user name';
  if (new Set(password).size < minDifferent) return `must have at least ${minDifferent} different characters`;
  const word = password.replaceAll(filler, '');
  if (commonWords.includes(word) || isSequence(password))
    return 'is one of the first passwords that guessing programs try: choose another password';
  return undefined;
}

/** Whether a password runs along a keyboard row or the alphabet, forward or backward, even if the row repeats. */
function isSequence(password: string): boolean {
  return rows.some((row) => {
    const endless = row.repeat(Math.ceil(password.length / row.length) + 1);
    return endless.includes(password) || [...endless].reverse().join('').includes(password);
  });
}
