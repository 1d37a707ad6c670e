import { randomInt } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../limits/platform-limits.js';
import { createSecret } from './access-tokens.js';
import { ExpiringStore } from './expiring-store.js';

/** A device code that waits for the user's decision, and then for the application to collect the token. */
export interface DeviceCode {
  readonly deviceCode: string;
  /** The user compares this code with the one on the device. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Id of the user who allowed the request, or `denied`. Null before the decision. */
  decision: { userId: string } | 'denied' | null;
}

export type DevicePoll = { userId: string; scopes: readonly string[] } | 'pending' | 'invalid';

const maxCodes = 1_000;

// Eight upper-case letters, as on the platform. Without I and O, which look like the digits 1 and 0.
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

  /** After the user has allowed the request, only the first poll gets a result. */
  poll(deviceCode: string, clientId: string, nowMs: number): DevicePoll {
    const code = this.codes.find(deviceCode, nowMs)?.value;
    if (code?.clientId !== clientId || code.decision === 'denied') return 'invalid';
    if (code.decision === null) return 'pending';
    this.codes.delete(deviceCode);
    return { userId: code.decision.userId, scopes: code.scopes };
  }

  /** Codes without a decision. */
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
