// Written by npm run generate from the JSON Schemas of the events (GET /api/v1/platform/event-types/<type>).

/** The data of the events of the platform, by event type. The platform adds fields without notice. */
export interface EventData {
  /** AutoMod held a chat message for moderator review (adds blocked-term reasons) */
  'automod-message-hold':
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        user_id: string;
        user_login: string;
        user_name: string;
        message_id: string;
        message: {
          text: string;
          fragments: {
            type: string;
            text: string;
            cheermote?: { prefix: string; bits: number; tier: number } | null;
            emote?: { id: string; emote_set_id: string } | null;
          }[];
        };
        category: string;
        level: number;
        held_at: string;
      }
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        user_id: string;
        user_login: string;
        user_name: string;
        message_id: string;
        message: {
          text: string;
          fragments: {
            type: string;
            text: string;
            cheermote?: { prefix: string; bits: number; tier: number } | null;
            emote?: { id: string; emote_set_id: string } | null;
          }[];
        };
        held_at: string;
        reason: string;
        automod: {
          category: string;
          level: number;
          boundaries: { start_pos: number; end_pos: number }[];
        } | null;
        blocked_term: {
          terms_found: {
            term_id: string;
            boundary: { start_pos: number; end_pos: number };
            owner_broadcaster_user_id: string;
            owner_broadcaster_user_login: string;
            owner_broadcaster_user_name: string;
          }[];
        } | null;
      };
  /** A held AutoMod message got a verdict or timed out (adds blocked-term reasons) */
  'automod-message-update':
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        user_id: string;
        user_login: string;
        user_name: string;
        moderator_user_id: string;
        moderator_user_name: string;
        moderator_user_login: string;
        message_id: string;
        message: {
          text: string;
          fragments: {
            type: string;
            text: string;
            cheermote?: { prefix: string; bits: number; tier: number } | null;
            emote?: { id: string; emote_set_id: string } | null;
          }[];
        };
        category: string;
        level: number;
        status: string;
        held_at: string;
      }
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        user_id: string;
        user_login: string;
        user_name: string;
        moderator_user_id: string;
        moderator_user_name: string;
        moderator_user_login: string;
        message_id: string;
        message: {
          text: string;
          fragments: {
            type: string;
            text: string;
            cheermote?: { prefix: string; bits: number; tier: number } | null;
            emote?: { id: string; emote_set_id: string } | null;
          }[];
        };
        status: string;
        held_at: string;
        reason: string;
        automod: {
          category: string;
          level: number;
          boundaries: { start_pos: number; end_pos: number }[];
        } | null;
        blocked_term: {
          terms_found: {
            term_id: string;
            boundary: { start_pos: number; end_pos: number };
            owner_broadcaster_user_id: string;
            owner_broadcaster_user_login: string;
            owner_broadcaster_user_name: string;
          }[];
        } | null;
      };
  /** AutoMod level settings of a channel changed */
  'automod-settings-update': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    bullying: number;
    overall_level: number | null;
    disability: number;
    race_ethnicity_or_religion: number;
    misogyny: number;
    sexuality_sex_or_gender: number;
    aggression: number;
    sex_based_terms: number;
    swearing: number;
  };
  /** Public AutoMod permitted/blocked word lists changed */
  'automod-terms-update': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    action: string;
    from_automod: boolean;
    terms: string[];
  };
  /** Bits spent in a channel by any means (cheer, Power-up, custom Power-up) */
  'channel-bits-use': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    bits: number;
    type: string;
    message: {
      text: string;
      fragments: {
        type: string;
        text: string;
        cheermote: { prefix: string; bits: number; tier: number } | null;
        emote: { id: string; emote_set_id: string; owner_id: string; format: string[] } | null;
      }[];
    } | null;
    power_up: {
      type: string;
      emote: { id: string; name: string } | null;
      message_effect_id: string | null;
    } | null;
    custom_power_up?: { title: string; reward_id: string } | null;
  };
  /** Title, category, language or content labels edited */
  'channel-update': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    language: string;
    category_id: string;
    category_name: string;
    content_classification_labels: string[];
  };
  /** Someone followed the channel */
  'channel-follow': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    followed_at: string;
  };
  /** An ad break started on the channel */
  'channel-ad_break-begin': {
    duration_seconds: number;
    started_at: string;
    is_automatic: boolean;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    requester_user_id: string;
    requester_user_login: string;
    requester_user_name: string;
  };
  /** Whole chat wiped by a moderator or bot */
  'channel-chat-clear': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
  };
  /** One chatter's messages wiped (ban/timeout) */
  'channel-chat-clear_user_messages': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    target_user_id: string;
    target_user_name: string;
    target_user_login: string;
  };
  /** Any message posted to a chat room */
  'channel-chat-message': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    chatter_user_id: string;
    chatter_user_name: string;
    chatter_user_login: string;
    message_id: string;
    message: {
      text: string;
      fragments: {
        type: string;
        text: string;
        cheermote: { prefix: string; bits: number; tier: number } | null;
        emote: { id: string; emote_set_id: string; owner_id: string; format: string[] } | null;
        mention: { user_id: string; user_login: string; user_name: string } | null;
      }[];
    };
    message_type: string;
    badges: { set_id: string; id: string; info: string }[];
    cheer: { bits: number } | null;
    color: string;
    reply: {
      parent_message_id: string;
      parent_message_body: string;
      parent_user_id: string;
      parent_user_login: string;
      parent_user_name: string;
      thread_message_id: string;
      thread_user_id: string;
      thread_user_login: string;
      thread_user_name: string;
    } | null;
    channel_points_custom_reward_id: string | null;
    source_broadcaster_user_id: string | null;
    source_broadcaster_user_name: string | null;
    source_broadcaster_user_login: string | null;
    source_message_id: string | null;
    source_badges: { set_id: string; id: string; info: string }[] | null;
    is_source_only: boolean | null;
    channel_points_animation_id?: string | null;
  };
  /** A single chat message removed by a moderator */
  'channel-chat-message_delete': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    target_user_id: string;
    target_user_name: string;
    target_user_login: string;
    message_id: string;
  };
  /** Chat system notice (sub, raid, announcement, streak, ...) */
  'channel-chat-notification': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    chatter_user_id: string;
    chatter_user_name: string;
    chatter_user_login: string;
    chatter_is_anonymous: boolean;
    color: string;
    badges: { set_id: string; id: string; info: string }[];
    system_message: string;
    message_id: string;
    message: {
      text: string;
      fragments: {
        type: string;
        text: string;
        cheermote: { prefix: string; bits: number; tier: number } | null;
        emote: { id: string; emote_set_id: string; owner_id: string; format: string[] } | null;
        mention: { user_id: string; user_login: string; user_name: string } | null;
      }[];
    };
    notice_type: string;
    sub: { sub_tier: string; is_prime: boolean; duration_months: number } | null;
    resub: {
      cumulative_months: number;
      duration_months: number;
      streak_months: number | null;
      sub_tier: string;
      is_prime: boolean | null;
      is_gift: boolean;
      gifter_is_anonymous: boolean | null;
      gifter_user_id: string | null;
      gifter_user_login: string | null;
      gifter_user_name: string | null;
    } | null;
    sub_gift: {
      duration_months: number;
      cumulative_total: number | null;
      recipient_user_id: string;
      recipient_user_login: string;
      recipient_user_name: string;
      sub_tier: string;
      community_gift_id: string | null;
    } | null;
    community_sub_gift: {
      id: string;
      total: number;
      sub_tier: string;
      cumulative_total: number | null;
    } | null;
    gift_paid_upgrade: {
      gifter_is_anonymous: boolean;
      gifter_user_id: string | null;
      gifter_user_login: string | null;
      gifter_user_name: string | null;
    } | null;
    prime_paid_upgrade: { sub_tier: string } | null;
    pay_it_forward: {
      gifter_is_anonymous: boolean;
      gifter_user_id: string | null;
      gifter_user_login: string | null;
      gifter_user_name: string | null;
    } | null;
    raid: {
      user_id: string;
      user_login: string;
      user_name: string;
      viewer_count: number;
      profile_image_url: string;
    } | null;
    unraid: Record<string, unknown> | null;
    announcement: { color: string } | null;
    bits_badge_tier: { tier: number } | null;
    charity_donation: {
      charity_name: string;
      amount: { value: number; decimal_place: number; currency: string };
    } | null;
    watch_streak?: { streak_count: number; channel_points_awarded: number } | null;
    modiversary?: { months: number } | null;
    source_broadcaster_user_id: string | null;
    source_broadcaster_user_name: string | null;
    source_broadcaster_user_login: string | null;
    source_message_id: string | null;
    source_badges: { set_id: string; id: string; info: string }[] | null;
    is_source_only?: boolean | null;
    shared_chat_sub: { sub_tier: string; is_prime: boolean; duration_months: number } | null;
    shared_chat_resub: {
      cumulative_months: number;
      duration_months: number;
      streak_months: number | null;
      sub_tier: string;
      is_prime: boolean | null;
      is_gift: boolean;
      gifter_is_anonymous: boolean | null;
      gifter_user_id: string | null;
      gifter_user_login: string | null;
      gifter_user_name: string | null;
    } | null;
    shared_chat_sub_gift: {
      duration_months: number;
      cumulative_total: number | null;
      recipient_user_id: string;
      recipient_user_login: string;
      recipient_user_name: string;
      sub_tier: string;
      community_gift_id: string | null;
    } | null;
    shared_chat_community_sub_gift: {
      id: string;
      total: number;
      sub_tier: string;
      cumulative_total: number | null;
    } | null;
    shared_chat_gift_paid_upgrade: {
      gifter_is_anonymous: boolean;
      gifter_user_id: string | null;
      gifter_user_login: string | null;
      gifter_user_name: string | null;
    } | null;
    shared_chat_prime_paid_upgrade: { sub_tier: string } | null;
    shared_chat_pay_it_forward: {
      gifter_is_anonymous: boolean;
      gifter_user_id: string | null;
      gifter_user_login: string | null;
      gifter_user_name: string | null;
    } | null;
    shared_chat_raid: {
      user_id: string;
      user_login: string;
      user_name: string;
      viewer_count: number;
      profile_image_url: string;
    } | null;
    shared_chat_announcement: { color: string } | null;
    shared_chat_modiversary?: { months: number } | null;
    shared_chat_unraid?: Record<string, unknown> | null;
    shared_chat_bits_badge_tier?: { tier: number } | null;
    shared_chat_charity_donation?: {
      charity_name: string;
      amount: { value: number; decimal_place: number; currency: string };
    } | null;
  };
  /** Chat-room modes changed (slow, emote-only, ...) */
  'channel-chat_settings-update': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    emote_mode: boolean;
    follower_mode: boolean;
    follower_mode_duration_minutes: number | null;
    slow_mode: boolean;
    slow_mode_wait_time_seconds: number | null;
    subscriber_mode: boolean;
    unique_chat_mode: boolean;
  };
  /** The subscribed user's own message was held by AutoMod */
  'channel-chat-user_message_hold': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    message_id: string;
    message: {
      text: string;
      fragments: {
        type: string;
        text: string;
        cheermote?: { prefix: string; bits: number; tier: number } | null;
        emote?: { id: string; emote_set_id: string } | null;
      }[];
    };
  };
  /** Outcome for the subscribed user's held message */
  'channel-chat-user_message_update': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    status: string;
    message_id: string;
    message: {
      text: string;
      fragments: {
        type: string;
        text: string;
        cheermote?: { prefix: string; bits: number; tier: number } | null;
        emote?: { id: string; emote_set_id: string } | null;
      }[];
    };
  };
  /** Channel joined a shared chat session */
  'channel-shared_chat-begin': {
    session_id: string;
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    host_broadcaster_user_id: string;
    host_broadcaster_user_name: string;
    host_broadcaster_user_login: string;
    participants: {
      broadcaster_user_id: string;
      broadcaster_user_login: string;
      broadcaster_user_name: string;
    }[];
  };
  /** Membership of the shared chat session changed */
  'channel-shared_chat-update': {
    session_id: string;
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    host_broadcaster_user_id: string;
    host_broadcaster_user_name: string;
    host_broadcaster_user_login: string;
    participants: {
      broadcaster_user_id: string;
      broadcaster_user_login: string;
      broadcaster_user_name: string;
    }[];
  };
  /** Channel left the shared chat session or it closed */
  'channel-shared_chat-end': {
    session_id: string;
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    host_broadcaster_user_id: string;
    host_broadcaster_user_name: string;
    host_broadcaster_user_login: string;
  };
  /** First-time (or gift-received) subscription; resubs excluded */
  'channel-subscribe': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    tier: string;
    is_gift: boolean;
  };
  /** A viewer's subscription lapsed */
  'channel-subscription-end': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    tier: string;
    is_gift: boolean;
  };
  /** Viewer bought one or more gift subs */
  'channel-subscription-gift': {
    user_id: string | null;
    user_login: string | null;
    user_name: string | null;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    total: number;
    tier: string;
    cumulative_total: number | null;
    is_anonymous: boolean;
  };
  /** Viewer shared a resubscription message */
  'channel-subscription-message': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    tier: string;
    message: { text: string; emotes: { id: string; begin: number; end: number }[] | null };
    cumulative_months: number;
    streak_months: number | null;
    duration_months: number;
  };
  /** Viewer cheered with Bits */
  'channel-cheer': {
    is_anonymous: boolean;
    user_id: string | null;
    user_login: string | null;
    user_name: string | null;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    message: string;
    bits: number;
  };
  /** One channel raided another */
  'channel-raid': {
    from_broadcaster_user_id: string;
    from_broadcaster_user_login: string;
    from_broadcaster_user_name: string;
    to_broadcaster_user_id: string;
    to_broadcaster_user_login: string;
    to_broadcaster_user_name: string;
    viewers: number;
  };
  /** Viewer banned or timed out */
  'channel-ban': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    reason: string;
    banned_at: string;
    ends_at: string | null;
    is_permanent: boolean;
  };
  /** Viewer unbanned / timeout lifted */
  'channel-unban': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
  };
  /** Banned viewer filed an unban request */
  'channel-unban_request-create': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    text: string;
    created_at: string;
  };
  /** Unban request approved, denied or withdrawn */
  'channel-unban_request-resolve': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string | null;
    moderator_user_login: string | null;
    moderator_user_name: string | null;
    user_id: string;
    user_login: string;
    user_name: string;
    resolution_text: string | null;
    status: string;
  };
  /** Firehose of moderator actions in a channel incl. warnings */
  'channel-moderate':
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        source_broadcaster_user_id: string | null;
        source_broadcaster_user_login: string | null;
        source_broadcaster_user_name: string | null;
        moderator_user_id: string;
        moderator_user_login: string;
        moderator_user_name: string;
        action: string;
        followers: { follow_duration_minutes: number } | null;
        slow: { wait_time_seconds: number } | null;
        vip: { user_id: string; user_login: string; user_name: string } | null;
        unvip: { user_id: string; user_login: string; user_name: string } | null;
        mod: { user_id: string; user_login: string; user_name: string } | null;
        unmod: { user_id: string; user_login: string; user_name: string } | null;
        ban: { user_id: string; user_login: string; user_name: string; reason: string | null } | null;
        unban: { user_id: string; user_login: string; user_name: string } | null;
        timeout: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
          expires_at: string;
        } | null;
        untimeout: { user_id: string; user_login: string; user_name: string } | null;
        raid: { user_id: string; user_login: string; user_name: string; viewer_count: number } | null;
        unraid: { user_id: string; user_login: string; user_name: string } | null;
        delete: {
          user_id: string;
          user_login: string;
          user_name: string;
          message_id: string;
          message_body: string;
        } | null;
        automod_terms: { action: string; list: string; terms: string[]; from_automod: boolean } | null;
        unban_request: {
          is_approved: boolean;
          user_id: string;
          user_login: string;
          user_name: string;
          moderator_message: string;
        } | null;
        shared_chat_ban: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
        } | null;
        shared_chat_unban: { user_id: string; user_login: string; user_name: string } | null;
        shared_chat_timeout: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
          expires_at: string;
        } | null;
        shared_chat_untimeout: { user_id: string; user_login: string; user_name: string } | null;
        shared_chat_delete: {
          user_id: string;
          user_login: string;
          user_name: string;
          message_id: string;
          message_body: string;
        } | null;
      }
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        source_broadcaster_user_id: string | null;
        source_broadcaster_user_login: string | null;
        source_broadcaster_user_name: string | null;
        moderator_user_id: string;
        moderator_user_login: string;
        moderator_user_name: string;
        action: string;
        followers: { follow_duration_minutes: number } | null;
        slow: { wait_time_seconds: number } | null;
        vip: { user_id: string; user_login: string; user_name: string } | null;
        unvip: { user_id: string; user_login: string; user_name: string } | null;
        mod: { user_id: string; user_login: string; user_name: string } | null;
        unmod: { user_id: string; user_login: string; user_name: string } | null;
        ban: { user_id: string; user_login: string; user_name: string; reason: string | null } | null;
        unban: { user_id: string; user_login: string; user_name: string } | null;
        timeout: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
          expires_at: string;
        } | null;
        untimeout: { user_id: string; user_login: string; user_name: string } | null;
        raid: { user_id: string; user_login: string; user_name: string; viewer_count: number } | null;
        unraid: { user_id: string; user_login: string; user_name: string } | null;
        delete: {
          user_id: string;
          user_login: string;
          user_name: string;
          message_id: string;
          message_body: string;
        } | null;
        automod_terms: { action: string; list: string; terms: string[]; from_automod: boolean } | null;
        unban_request: {
          is_approved: boolean;
          user_id: string;
          user_login: string;
          user_name: string;
          moderator_message: string;
        } | null;
        warn: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
          chat_rules_cited: string[] | null;
        } | null;
        shared_chat_ban: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
        } | null;
        shared_chat_unban: { user_id: string; user_login: string; user_name: string } | null;
        shared_chat_timeout: {
          user_id: string;
          user_login: string;
          user_name: string;
          reason: string | null;
          expires_at: string;
        } | null;
        shared_chat_untimeout: { user_id: string; user_login: string; user_name: string } | null;
        shared_chat_delete: {
          user_id: string;
          user_login: string;
          user_name: string;
          message_id: string;
          message_body: string;
        } | null;
      };
  /** User given moderator role */
  'channel-moderator-add': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
  };
  /** User lost moderator role */
  'channel-moderator-remove': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
  };
  /** Guest Star session opened (beta) */
  'channel-guest_star_session-begin': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    session_id: string;
    started_at: string;
    moderator_user_id?: string | null;
    moderator_user_name?: string | null;
    moderator_user_login?: string | null;
  };
  /** Guest Star session closed (beta) */
  'channel-guest_star_session-end': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    session_id: string;
    started_at: string;
    ended_at: string;
    host_user_id?: string;
    host_user_name?: string;
    host_user_login?: string;
    moderator_user_id?: string | null;
    moderator_user_name?: string | null;
    moderator_user_login?: string | null;
  };
  /** Guest or slot state changed in Guest Star (beta) */
  'channel-guest_star_guest-update': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    session_id: string;
    moderator_user_id: string | null;
    moderator_user_name: string | null;
    moderator_user_login: string | null;
    guest_user_id: string | null;
    guest_user_name: string | null;
    guest_user_login: string | null;
    slot_id: string | null;
    state: string | null;
    host_user_id: string;
    host_user_name: string;
    host_user_login: string;
    host_video_enabled: boolean | null;
    host_audio_enabled: boolean | null;
    host_volume: number | null;
  };
  /** Guest Star host preferences edited (beta) */
  'channel-guest_star_settings-update': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    is_moderator_send_live_enabled: boolean;
    slot_count: number;
    is_browser_source_audio_enabled: boolean;
    group_layout: string;
  };
  /** Viewer redeemed a built-in Channel Points reward (no Bits-priced Power-ups) */
  'channel-channel_points_automatic_reward_redemption-add':
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        user_id: string;
        user_login: string;
        user_name: string;
        id: string;
        reward: { type: string; cost: number; unlocked_emote: { id: string; name: string } | null };
        message: { text: string; emotes: { id: string; begin: number; end: number }[] | null } | null;
        user_input?: string | null;
        redeemed_at: string;
      }
    | {
        broadcaster_user_id: string;
        broadcaster_user_login: string;
        broadcaster_user_name: string;
        user_id: string;
        user_login: string;
        user_name: string;
        id: string;
        reward: { type: string; channel_points: number; emote: { id: string; name: string } | null };
        message: {
          text: string;
          fragments: {
            type: string;
            text: string;
            cheermote: { prefix: string; bits: number; tier: number } | null;
            emote: { id: string; emote_set_id: string; owner_id: string; format: string[] } | null;
          }[];
        } | null;
        redeemed_at: string;
      };
  /** Custom reward created */
  'channel-channel_points_custom_reward-add': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    is_enabled: boolean;
    is_paused: boolean;
    is_in_stock: boolean;
    title: string;
    cost: number;
    prompt: string;
    is_user_input_required: boolean;
    should_redemptions_skip_request_queue: boolean;
    max_per_stream: { is_enabled: boolean; value: number };
    max_per_user_per_stream: { is_enabled: boolean; value: number };
    background_color: string;
    image: { url_1x: string; url_2x: string; url_4x: string } | null;
    default_image: { url_1x: string; url_2x: string; url_4x: string } | null;
    global_cooldown: { is_enabled: boolean; seconds: number };
    cooldown_expires_at: string | null;
    redemptions_redeemed_current_stream: number | null;
  };
  /** Custom reward edited */
  'channel-channel_points_custom_reward-update': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    is_enabled: boolean;
    is_paused: boolean;
    is_in_stock: boolean;
    title: string;
    cost: number;
    prompt: string;
    is_user_input_required: boolean;
    should_redemptions_skip_request_queue: boolean;
    max_per_stream: { is_enabled: boolean; value: number };
    max_per_user_per_stream: { is_enabled: boolean; value: number };
    background_color: string;
    image: { url_1x: string; url_2x: string; url_4x: string } | null;
    default_image: { url_1x: string; url_2x: string; url_4x: string } | null;
    global_cooldown: { is_enabled: boolean; seconds: number };
    cooldown_expires_at: string | null;
    redemptions_redeemed_current_stream: number | null;
  };
  /** Custom reward deleted */
  'channel-channel_points_custom_reward-remove': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    is_enabled: boolean;
    is_paused: boolean;
    is_in_stock: boolean;
    title: string;
    cost: number;
    prompt: string;
    is_user_input_required: boolean;
    should_redemptions_skip_request_queue: boolean;
    max_per_stream: { is_enabled: boolean; value: number };
    max_per_user_per_stream: { is_enabled: boolean; value: number };
    background_color: string;
    image: { url_1x: string; url_2x: string; url_4x: string } | null;
    default_image: { url_1x: string; url_2x: string; url_4x: string } | null;
    global_cooldown: { is_enabled: boolean; seconds: number };
    cooldown_expires_at: string | null;
    redemptions_redeemed_current_stream: number | null;
  };
  /** Viewer redeemed a custom reward */
  'channel-channel_points_custom_reward_redemption-add': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    user_input: string;
    status: string;
    reward: { id: string; title: string; cost: number; prompt: string };
    redeemed_at: string;
  };
  /** Custom-reward redemption fulfilled or canceled */
  'channel-channel_points_custom_reward_redemption-update': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    user_input: string;
    status: string;
    reward: { id: string; title: string; cost: number; prompt: string };
    redeemed_at: string;
  };
  /** Viewer redeemed a broadcaster-defined Power-up with Bits */
  'channel-custom_power_up_redemption-add': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    user_input: string;
    status: string;
    custom_power_up: { id: string; title: string; bits: number; prompt: string };
    redeemed_at: string;
  };
  /** Poll opened */
  'channel-poll-begin': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    choices: {
      id: string;
      title: string;
      bits_votes?: number;
      channel_points_votes?: number;
      votes?: number;
    }[];
    bits_voting: { is_enabled: boolean; amount_per_vote: number };
    channel_points_voting: { is_enabled: boolean; amount_per_vote: number };
    started_at: string;
    ends_at: string;
  };
  /** Poll votes changed */
  'channel-poll-progress': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    choices: {
      id: string;
      title: string;
      bits_votes?: number;
      channel_points_votes?: number;
      votes?: number;
    }[];
    bits_voting: { is_enabled: boolean; amount_per_vote: number };
    channel_points_voting: { is_enabled: boolean; amount_per_vote: number };
    started_at: string;
    ends_at: string;
  };
  /** Poll finished */
  'channel-poll-end': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    choices: {
      id: string;
      title: string;
      bits_votes?: number;
      channel_points_votes?: number;
      votes?: number;
    }[];
    bits_voting: { is_enabled: boolean; amount_per_vote: number };
    channel_points_voting: { is_enabled: boolean; amount_per_vote: number };
    status: string;
    started_at: string;
    ended_at: string;
  };
  /** Prediction opened */
  'channel-prediction-begin': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    outcomes: {
      id: string;
      title: string;
      color: string;
      users?: number;
      channel_points?: number;
      top_predictors?:
        | {
            user_id: string;
            user_login: string;
            user_name: string;
            channel_points_won: number | null;
            channel_points_used: number;
          }[]
        | null;
    }[];
    started_at: string;
    locks_at: string;
  };
  /** Prediction entries changed */
  'channel-prediction-progress': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    outcomes: {
      id: string;
      title: string;
      color: string;
      users?: number;
      channel_points?: number;
      top_predictors?:
        | {
            user_id: string;
            user_login: string;
            user_name: string;
            channel_points_won: number | null;
            channel_points_used: number;
          }[]
        | null;
    }[];
    started_at: string;
    locks_at: string;
  };
  /** Prediction closed to new entries */
  'channel-prediction-lock': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    outcomes: {
      id: string;
      title: string;
      color: string;
      users?: number;
      channel_points?: number;
      top_predictors?:
        | {
            user_id: string;
            user_login: string;
            user_name: string;
            channel_points_won: number | null;
            channel_points_used: number;
          }[]
        | null;
    }[];
    started_at: string;
    locked_at: string;
  };
  /** Prediction resolved or canceled */
  'channel-prediction-end': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    title: string;
    winning_outcome_id: string;
    outcomes: {
      id: string;
      title: string;
      color: string;
      users?: number;
      channel_points?: number;
      top_predictors?:
        | {
            user_id: string;
            user_login: string;
            user_name: string;
            channel_points_won: number | null;
            channel_points_used: number;
          }[]
        | null;
    }[];
    status: string;
    started_at: string;
    ended_at: string;
  };
  /** Flagged user posted a chat message */
  'channel-suspicious_user-message': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    user_id: string;
    user_name: string;
    user_login: string;
    low_trust_status: string;
    shared_ban_channel_ids: string[];
    types: string[];
    ban_evasion_evaluation: string;
    message: {
      message_id: string;
      text: string;
      fragments: {
        type: string;
        text: string;
        cheermote?: { prefix: string; bits: number; tier: number } | null;
        emote?: { id: string; emote_set_id: string } | null;
      }[];
    };
  };
  /** A user's suspicious flag changed */
  'channel-suspicious_user-update': {
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    moderator_user_id: string;
    moderator_user_name: string;
    moderator_user_login: string;
    user_id: string;
    user_name: string;
    user_login: string;
    low_trust_status: string;
  };
  /** User given VIP */
  'channel-vip-add': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
  };
  /** User lost VIP */
  'channel-vip-remove': {
    user_id: string;
    user_login: string;
    user_name: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
  };
  /** User confirmed a moderator warning */
  'channel-warning-acknowledge': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
  };
  /** Moderator warned a user */
  'channel-warning-send': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    reason: string | null;
    chat_rules_cited: string[] | null;
  };
  /** Viewer donated to the charity campaign */
  'channel-charity_campaign-donate': {
    id: string;
    campaign_id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    charity_name: string;
    charity_description: string;
    charity_logo: string;
    charity_website: string;
    amount: { value: number; decimal_places: number; currency: string };
  };
  /** Charity campaign launched */
  'channel-charity_campaign-start': {
    id: string;
    broadcaster_id: string;
    broadcaster_login: string;
    broadcaster_name: string;
    charity_name: string;
    charity_description: string;
    charity_logo: string;
    charity_website: string;
    current_amount: { value: number; decimal_places: number; currency: string };
    target_amount: { value: number; decimal_places: number; currency: string };
    started_at: string;
  };
  /** Charity total or target moved */
  'channel-charity_campaign-progress': {
    id: string;
    broadcaster_id: string;
    broadcaster_login: string;
    broadcaster_name: string;
    charity_name: string;
    charity_description: string;
    charity_logo: string;
    charity_website: string;
    current_amount: { value: number; decimal_places: number; currency: string };
    target_amount: { value: number; decimal_places: number; currency: string };
  };
  /** Charity campaign ended */
  'channel-charity_campaign-stop': {
    id: string;
    broadcaster_id: string;
    broadcaster_login: string;
    broadcaster_name: string;
    charity_name: string;
    charity_description: string;
    charity_logo: string;
    charity_website: string;
    current_amount: { value: number; decimal_places: number; currency: string };
    target_amount: { value: number; decimal_places: number; currency: string };
    stopped_at: string;
  };
  /** Twitch disabled a conduit shard */
  'conduit-shard-disabled': {
    conduit_id: string;
    shard_id: string;
    status: string;
    transport: {
      method: string;
      callback: string | null;
      session_id: string | null;
      connected_at: string | null;
      disconnected_at: string | null;
    };
  };
  /** Drop entitlement awarded (batched) */
  'drop-entitlement-grant': {
    events: {
      id: string;
      data: {
        organization_id: string;
        category_id: string;
        category_name: string;
        campaign_id: string;
        user_id: string;
        user_login: string;
        user_name: string;
        entitlement_id: string;
        benefit_id: string;
        created_at: string;
      };
    }[];
  };
  /** Bits purchase inside an Extension */
  'extension-bits_transaction-create': {
    extension_client_id: string;
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    user_id: string;
    user_login: string;
    user_name: string;
    product: { name: string; bits: number; sku: string; in_development: boolean };
  };
  /** Creator goal started */
  'channel-goal-begin': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    type: string;
    description: string;
    current_amount: number;
    target_amount: number;
    started_at: string;
  };
  /** Creator goal value moved (up or down) */
  'channel-goal-progress': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    type: string;
    description: string;
    current_amount: number;
    target_amount: number;
    started_at: string;
  };
  /** Creator goal finished */
  'channel-goal-end': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_name: string;
    broadcaster_user_login: string;
    type: string;
    description: string;
    is_achieved: boolean;
    current_amount: number;
    target_amount: number;
    started_at: string;
    ended_at: string;
  };
  /** Hype Train started */
  'channel-hype_train-begin': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    total: number;
    progress: number;
    goal: number;
    top_contributions: {
      user_id: string;
      user_login: string;
      user_name: string;
      type: string;
      total: number;
    }[];
    level: number;
    all_time_high_level: number;
    all_time_high_total: number;
    shared_train_participants:
      { broadcaster_user_id: string; broadcaster_user_login: string; broadcaster_user_name: string }[] | null;
    started_at: string;
    expires_at: string;
    type: string;
    is_shared_train: boolean;
  };
  /** Hype Train contribution received */
  'channel-hype_train-progress': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    total: number;
    progress: number;
    goal: number;
    top_contributions: {
      user_id: string;
      user_login: string;
      user_name: string;
      type: string;
      total: number;
    }[];
    level: number;
    shared_train_participants:
      { broadcaster_user_id: string; broadcaster_user_login: string; broadcaster_user_name: string }[] | null;
    started_at: string;
    expires_at: string;
    type: string;
    is_shared_train: boolean;
  };
  /** Hype Train finished */
  'channel-hype_train-end': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    total: number;
    top_contributions: {
      user_id: string;
      user_login: string;
      user_name: string;
      type: string;
      total: number;
    }[];
    level: number;
    shared_train_participants:
      { broadcaster_user_id: string; broadcaster_user_login: string; broadcaster_user_name: string }[] | null;
    started_at: string;
    cooldown_ends_at: string;
    ended_at: string;
    type: string;
    is_shared_train: boolean;
  };
  /** Shield Mode switched on */
  'channel-shield_mode-begin': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    started_at: string;
  };
  /** Shield Mode switched off */
  'channel-shield_mode-end': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    ended_at: string;
  };
  /** Channel gave a shoutout */
  'channel-shoutout-create': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    to_broadcaster_user_id: string;
    to_broadcaster_user_login: string;
    to_broadcaster_user_name: string;
    moderator_user_id: string;
    moderator_user_login: string;
    moderator_user_name: string;
    viewer_count: number;
    started_at: string;
    cooldown_ends_at: string;
    target_cooldown_ends_at: string;
  };
  /** Channel was given a shoutout */
  'channel-shoutout-receive': {
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    from_broadcaster_user_id: string;
    from_broadcaster_user_login: string;
    from_broadcaster_user_name: string;
    viewer_count: number;
    started_at: string;
  };
  /** Channel went live */
  'stream-online': {
    id: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
    type: string;
    started_at: string;
  };
  /** Channel stopped streaming */
  'stream-offline': {
    id?: string;
    broadcaster_user_id: string;
    broadcaster_user_login: string;
    broadcaster_user_name: string;
  };
  /** User authorized this client id */
  'user-authorization-grant': { client_id: string; user_id: string; user_login: string; user_name: string };
  /** User withdrew authorization of this client id */
  'user-authorization-revoke': {
    client_id: string;
    user_id: string;
    user_login: string | null;
    user_name: string | null;
  };
  /** Account profile changed */
  'user-update': {
    user_id: string;
    user_login: string;
    user_name: string;
    email?: string;
    email_verified: boolean;
    description: string;
  };
  /** User received a whisper */
  'user-whisper-message': {
    from_user_id: string;
    from_user_name: string;
    from_user_login: string;
    to_user_id: string;
    to_user_name: string;
    to_user_login: string;
    whisper_id: string;
    whisper: { text: string };
  };
}
