import { ServiceError } from '@stream-events/contracts';
import { refuseWeakPassword } from './password-rule.js';

function faultOf(password: string): string | undefined {
  try {
    refuseWeakPassword('password', password, 'Some-Streamer');
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.errors?.password?.[0] : String(error);
  }
}

describe(refuseWeakPassword.name, () => {
  it.each([
    ['aaaaaaaaaa', 'different characters'],
    ['abababababab', 'different characters'],
    ['1111122222', 'different characters'],
    ['some-streamer', 'user name'],
    ['SOME-STREAMER', 'user name'],
    ['1234567890', 'guessing'],
    ['0987654321', 'guessing'],
    ['12345678901234567890', 'guessing'],
    ['qwertyuiop', 'guessing'],
    ['QwertyUiop', 'guessing'],
    ['abcdefghijkl', 'guessing'],
    ['password123', 'guessing'],
    ['Password2026!', 'guessing'],
    ['1qaz2wsx3edc', 'guessing'],
  ])('refuses %s', (password, fault) => {
    expect(faultOf(password)).toContain(fault);
  });

  it.each([
    'correct horse battery staple',
    'the password of the owner',
    ' ten characters ',
    'pässwörter sind lang',
    'Tr0ub4dor&3x',
    '密码密码一二三四五六七八',
  ])('accepts %s', (password) => {
    expect(faultOf(password)).toBeUndefined();
  });
});
