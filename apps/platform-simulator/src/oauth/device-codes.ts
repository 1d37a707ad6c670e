import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../limits/platform-limits.js';
import { createSecret } from './access-tokens.js';
import { ExpiringStore } from './expiring-store.js';

/** A device code that waits for a user's decision, or for the application to collect the token. */
export interface DeviceCode {
  readonly deviceCode: string;
  /** The code that the user compares with the code on the device. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The id of the user who allowed the request, or `denied`; null until a user has decided. */
  decision: { userId: string } | 'denied' | null;
}

/** The result of a poll. */
export type DevicePoll = { userId: string; scopes: readonly string[] } | 'pending' | 'invalid';

const maxCodes = 1_000;

// The platform's codes have eight upper-case letters. Letters that look like digits or like each other are left out.
const userCodeLength = 8;
const userCodeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

/** Device codes (docs/platform-facts.md §4.7). */
@Injectable()
export class DeviceCodes {
  private readonly codes = new ExpiringStore<DeviceCode>(maxCodes);

  constructor(@Inject(PlatformLimits) private readonly limits: PlatformLimits) {}

  issue(clientId: string, scopes: readonly string[], nowMs: number): DeviceCode {
    const deviceCode = createSecret();
    const code: DeviceCode = { deviceCode, userCode: createUserCode(), clientId, scopes, decision: null };
    this.codes.add(deviceCode, code, nowMs + this.limits.current.device_code_seconds * 1_000);
    return code;
  }

  /** Polls a code. After a user has allowed the request, only one poll succeeds. */
  poll(deviceCode: string, clientId: string, nowMs: number): DevicePoll {
    const code = this.codes.find(deviceCode, nowMs)?.value;
    if (code?.clientId !== clientId || code.decision === 'denied') return 'invalid';
    if (code.decision === null) return 'pending';
    this.codes.delete(deviceCode);
    return { userId: code.decision.userId, scopes: code.scopes };
  }

  /** The codes that no user has allowed or denied yet. */
  listPending(nowMs: number): DeviceCode[] {
    return this.codes.list(nowMs).filter(({ decision }) => decision === null);
  }

  findPending(userCode: string, nowMs: number): DeviceCode | undefined {
    const wanted = userCode.trim().toUpperCase().replaceAll('-', '');
    return this.listPending(nowMs).find((code) => code.userCode === wanted);
  }
}

function createUserCode(): string {
  const letters = Array.from(
    { length: userCodeLength },
    () => userCodeLetters[randomInt(userCodeLetters.length)],
  );
  return letters.join('');
}
