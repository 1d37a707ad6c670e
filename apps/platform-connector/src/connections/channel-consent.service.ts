import { Injectable } from '@nestjs/common';
import type { ChannelConsentMessage, ConsentState } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { EventTypesService } from '../event-types/event-types.service.js';
import { channelOfCondition } from '../subscriptions/subscription-list.repository.js';
import { consentStateOf, worstOf, type ConsentFacts } from './consent-state.js';

type ConsentRow = ConsentFacts & { channelId: string; type: string };

/** For each channel, reports to which event types the service is subscribed, and why it is not subscribed to the other event types. */
@Injectable()
export class ChannelConsent {
  constructor(
    private readonly dataSource: DataSource,
    private readonly eventTypes: EventTypesService,
  ) {}

  /** Returns one entry per channel, in the given order. */
  async list(channelIds: readonly string[]): Promise<ChannelConsentMessage[]> {
    const [chosen, rows] = await Promise.all([this.eventTypes.listChosen(), this.readRows(channelIds)]);
    return channelIds.map((channelId) => ({
      channelId,
      types: chosen.get(channelId) ?? null,
      states: statesOf(rows.filter((row) => row.channelId === channelId)),
    }));
  }

  private async readRows(channelIds: readonly string[]): Promise<ConsentRow[]> {
    return this.dataSource.query<ConsentRow[]>(
      `SELECT DISTINCT ${channelOfCondition} AS "channelId", type, status,
         EXISTS (SELECT FROM connections
                 WHERE state = 'reconnect_needed' AND user_id IN (SELECT value FROM jsonb_each_text(condition))) AS "isEnded"
       FROM subscriptions WHERE ${channelOfCondition} = ANY($1::text[])`,
      [channelIds],
    );
  }
}

function statesOf(rows: readonly ConsentRow[]): Record<string, ConsentState> {
  const states: Record<string, ConsentState> = {};
  for (const { type, ...facts } of rows) {
    const state = consentStateOf(facts);
    states[type] = worstOf([state, states[type] ?? state]) ?? state;
  }
  return states;
}
