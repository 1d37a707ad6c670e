import type { LiveEvent } from '@stream-events/client';
import { parseTime } from '@stream-events/sentences';

type Data = Readonly<Record<string, unknown>>;

/** What happened, for events that the platform sends in several forms, and the form of this event. */
interface Occurrence {
  what: string;
  form: string;
  /** Whether `what` cannot happen again. */
  isUnique?: boolean;
}

// The forms of one occurrence arrive within seconds of each other.
const windowMs = 60_000;
const maxKnown = 500;

/**
 * Recognizes events of the platform that need no alert, because another event has it: the recipients of a gift, and the second form of an
 * occurrence, such as `channel-bits-use` after `channel-cheer`. The first form that arrives is shown.
 */
export class RepeatedEvents {
  private readonly known = new Map<string, { form: string; at: number }>();

  /** Records an event, and returns whether it needs no alert. */
  take({ event_type, event_data, created }: LiveEvent): boolean {
    if (isPartOfGift(event_type, event_data)) return true;
    const occurrence = occurrenceOf(event_type, event_data);
    if (!occurrence) return false;
    const { what, form, isUnique = false } = occurrence;
    const at = parseTime(created).getTime();
    const known = this.known.get(what);
    if (known && known.form !== form && (isUnique || Math.abs(at - known.at) <= windowMs)) return true;
    this.known.delete(what);
    this.known.set(what, { form, at });
    const [oldest] = this.known.keys();
    if (this.known.size > maxKnown && oldest !== undefined) this.known.delete(oldest);
    return false;
  }
}

/** Whether the event is about one recipient of a gift. The gift's own event has the number of subscriptions. */
function isPartOfGift(type: string, data: Data): boolean {
  if (type === 'channel-subscribe') return data.is_gift === true;
  const gift = type === 'channel-chat-notification' ? data.sub_gift : undefined;
  return isObject(gift) && typeof gift.community_gift_id === 'string';
}

function occurrenceOf(type: string, data: Data): Occurrence | undefined {
  const user = personOf(data);
  switch (type) {
    case 'channel-cheer':
      return { what: `cheer ${user} ${String(data.bits)}`, form: type };
    case 'channel-bits-use':
      return data.type === 'cheer' ? { what: `cheer ${user} ${String(data.bits)}`, form: type } : undefined;
    case 'channel-raid':
      return { what: `raid ${String(data.from_broadcaster_user_id)}`, form: type };
    case 'channel-subscribe':
    case 'channel-subscription-message':
      return { what: `subscription ${user}`, form: 'event' };
    case 'channel-subscription-gift':
      return { what: `gift ${user}`, form: type };
    case 'channel-charity_campaign-donate':
      return { what: `donation ${user}`, form: type };
    case 'channel-poll-end':
      return { what: `end of poll ${String(data.id)}`, form: String(data.status), isUnique: true };
    case 'channel-chat-notification':
      return noticeOf(data, user);
    default:
      return undefined;
  }
}

function noticeOf({ notice_type, raid }: Data, user: string): Occurrence | undefined {
  const form = 'notice';
  switch (notice_type) {
    case 'raid':
      return isObject(raid) ? { what: `raid ${String(raid.user_id)}`, form } : undefined;
    case 'sub':
    case 'resub':
    case 'prime_paid_upgrade':
    case 'gift_paid_upgrade':
      return { what: `subscription ${user}`, form };
    case 'sub_gift':
    case 'community_sub_gift':
      return { what: `gift ${user}`, form };
    case 'charity_donation':
      return { what: `donation ${user}`, form };
    default:
      return undefined;
  }
}

/** The platform names no user for an anonymous cheer or gift, and a bot for an anonymous notice. */
function personOf(data: Data): string {
  const isAnonymous = data.is_anonymous === true || data.chatter_is_anonymous === true;
  return isAnonymous ? 'anonymous' : String(data.user_id ?? data.chatter_user_id);
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null;
}
