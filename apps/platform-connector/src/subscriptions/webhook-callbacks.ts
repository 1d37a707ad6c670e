import { Inject, Injectable } from '@nestjs/common';
import { readCallback } from '@stream-events/platforms';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';

/**
 * Which secret signs the messages to a callback: the `first` of the configured ones, an `other` one of them, or a `removed` one, whose
 * messages the gateways reject.
 */
export type SecretKind = 'first' | 'other' | 'removed';

/** The callbacks of this service: one for each webhook secret, and the plain one of versions that had one for all secrets. */
export class WebhookCallbacks {
  /**
   * @param fingerprints of the configured secrets, in their order
   * @param plainFingerprint of the secret of the plain callback; empty when it is not known. Then its subscriptions move, too
   */
  constructor(
    private readonly publicUrl: string,
    private readonly fingerprints: readonly string[],
    private readonly plainFingerprint: string,
  ) {}

  /** Undefined for a callback that is not ours. */
  kindOf(callback: string | null): SecretKind | undefined {
    const found = readCallback(this.publicUrl, callback);
    if (found === undefined) return undefined;
    const fingerprint = found === '' ? this.plainFingerprint : found;
    if (fingerprint === '') return 'other';
    if (fingerprint === this.fingerprints[0]) return 'first';
    return this.fingerprints.includes(fingerprint) ? 'other' : 'removed';
  }
}

/** Reads which callbacks are ours, as the instance that started last declares them. */
@Injectable()
export class WebhookCallbacksReader {
  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly schedule: ReconciliationSchedule,
  ) {}

  /** Declares the secrets of this instance. */
  async declare(): Promise<void> {
    const { webhook } = this.settings;
    if (webhook) await this.schedule.declareSecrets(webhook.fingerprints);
  }

  /**
   * Null when the platform has no address to send messages to. `isCurrent` is false when another instance has started later, with other
   * secrets: then this instance must not move subscriptions to its own first secret.
   */
  async read(): Promise<{ callbacks: WebhookCallbacks; isCurrent: boolean; hasOthers: boolean } | null> {
    const { webhook } = this.settings;
    if (!webhook) return null;
    const { fingerprints, plainFingerprint } = await this.schedule.readSecrets();
    return {
      callbacks: new WebhookCallbacks(webhook.publicUrl, fingerprints, plainFingerprint),
      isCurrent: fingerprints.join() === webhook.fingerprints.join(),
      hasOthers: fingerprints.length > 1,
    };
  }
}
