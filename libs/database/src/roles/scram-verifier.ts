import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

// PostgreSQL's default number of iterations. More would slow down every connection.
const iterations = 4096;
const keyLength = 32;

/**
 * Returns the SCRAM-SHA-256 verifier (RFC 5803) that PostgreSQL stores instead of a password. `CREATE ROLE` and `ALTER ROLE` accept it, so
 * the password itself never reaches the server, its statement log, or `pg_stat_activity`.
 *
 * @param password ASCII only, because PostgreSQL normalizes other characters before it hashes
 */
export async function createScramVerifier(password: string): Promise<string> {
  if (!/^[\x20-\x7e]+$/.test(password))
    throw new Error('the password of a database role must consist of visible ASCII characters');
  const salt = randomBytes(16);
  const salted = await promisify(pbkdf2)(password, salt, iterations, keyLength, 'sha256');
  const sign = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(sign('Client Key')).digest('base64');
  const serverKey = sign('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
