/**
 * The sentences by event type: who did what to whom. Of several, the first is used whose values are all present.
 *
 * ```
 * {path}      a value of event_data, for example {bits} or {reward.title}
 * {@role}     the name of a user or channel: `user`, `channel`, `source` (another channel of a shared chat), or a role of `identityKeys`
 * {@path}     another name
 * {"path}     text that a user wrote
 * {path|how}  a value, formatted by the printer `how` (see `printers`)
 * {path|s}    the `s` of a plural, unless the number is 1
 * {path|if}   nothing, if the value is true; otherwise it counts as missing
 * [ … ]       a part that is left out if a value in it is missing
 * ```
 */
export const sentences: Readonly<Record<string, string | readonly string[]>> = {
  'automod-message-hold': 'AutoMod held a message from {@user} in {@channel}[: {"message.text}]',
  'automod-message-update':
    '{@moderator} decided on a held message from {@user} in {@channel}[: {status|words}]',
  'automod-settings-update': '{@moderator} changed the AutoMod settings of {@channel}',
  'automod-terms-update':
    '{@moderator} changed the AutoMod terms of {@channel}[: {action|words}][ {"terms|list}]',
  'channel-bits-use': '{@user} used {bits|number} bit{bits|s} in {@channel}[: {"message.text}]',
  'channel-update': '{@channel} changed the stream[ to {"title}][ in {category_name}]',
  'channel-follow': '{@user} followed {@channel}',
  'channel-ad_break-begin': 'An ad break of {duration_seconds|seconds} began on {@channel}',
  'channel-chat-clear': 'The chat of {@channel} was cleared',
  'channel-chat-clear_user_messages': 'The messages from {@target} in the chat of {@channel} were cleared',
  'channel-chat-message': '{@user} in {@channel}[, from the chat of {@source}]: {"message.text}',
  'channel-chat-message_delete': 'A message from {@target} in the chat of {@channel} was deleted',
  // Announcements have no system message. New kinds of notices can lack both texts.
  'channel-chat-notification': [
    '{@user} in {@channel}[, from the chat of {@source}]: {"system_message}[: {"message.text}]',
    '{@user} in {@channel}[, from the chat of {@source}]: {"message.text}',
    '{@user} in {@channel}[, from the chat of {@source}]: {notice_type|words}',
  ],
  'channel-chat_settings-update': 'The chat settings of {@channel} changed',
  'channel-chat-user_message_hold': 'A message from {@user} in {@channel} is held[: {"message.text}]',
  'channel-chat-user_message_update':
    'The held message from {@user} in {@channel} was {status|words}[: {"message.text}]',
  'channel-shared_chat-begin': '{@channel} joined a shared chat[ of {@host_broadcaster_user_name}]',
  'channel-shared_chat-update':
    'The shared chat of {@channel} changed[: {participants|count} channel{participants|s}]',
  'channel-shared_chat-end': '{@channel} left a shared chat[ of {@host_broadcaster_user_name}]',
  'channel-subscribe': [
    '{@user} received a gift subscription to {@channel}[ ({tier|tier})]{is_gift|if}',
    '{@user} subscribed to {@channel}[ ({tier|tier})]',
  ],
  'channel-subscription-end': 'The subscription of {@user} to {@channel} ended',
  'channel-subscription-gift':
    '{@user} gave {total|number} subscription{total|s} to {@channel}[ ({tier|tier})]',
  'channel-subscription-message':
    '{@user} resubscribed to {@channel}[ for {cumulative_months} month{cumulative_months|s}][: {"message.text}]',
  'channel-cheer': '{@user} cheered {bits|number} bit{bits|s} in {@channel}[: {"message}]',
  'channel-raid': '{@raider} raided {@raided}[ with {viewers|number} viewer{viewers|s}]',
  raid: '{@raider} raided {@raided}[ with {viewers|number} viewer{viewers|s}]',
  'channel-ban': '{@moderator} banned {@user} from {@channel}[ until {ends_at|time}][: {"reason}]',
  'channel-unban': '{@moderator} unbanned {@user} from {@channel}',
  'channel-unban_request-create': '{@user} asked {@channel} to be unbanned[: {"text}]',
  'channel-unban_request-resolve':
    'The unban request of {@user} in {@channel} was {status|words}[ by {@moderator}][: {"resolution_text}]',
  'channel-moderate': '{@moderator} moderated {@channel}[: {action|words}]',
  'channel-moderator-add': '{@user} became a moderator of {@channel}',
  'channel-moderator-remove': '{@user} is no longer a moderator of {@channel}',
  'channel-guest_star_session-begin': 'A guest star session began on {@channel}',
  'channel-guest_star_session-end': 'A guest star session ended on {@channel}',
  'channel-guest_star_guest-update': 'A guest of {@channel} changed[: {@target}][ is {state|words}]',
  'channel-guest_star_settings-update': 'The guest star settings of {@channel} changed',
  'channel-channel_points_automatic_reward_redemption-add':
    '{@user} redeemed {reward.type|words} in {@channel}',
  'channel-channel_points_custom_reward-add':
    '{@channel} added the reward {"title}[ for {cost|number} point{cost|s}]',
  'channel-channel_points_custom_reward-update':
    '{@channel} changed the reward {"title}[ for {cost|number} point{cost|s}]',
  'channel-channel_points_custom_reward-remove': '{@channel} removed the reward {"title}',
  'channel-channel_points_custom_reward_redemption-add':
    '{@user} redeemed {"reward.title} in {@channel}[ for {reward.cost|number} point{reward.cost|s}][: {"user_input}]',
  'channel-channel_points_custom_reward_redemption-update':
    'The redemption of {"reward.title} by {@user} in {@channel} is {status|words}',
  'channel-custom_power_up_redemption-add':
    '{@user} used the power-up {"custom_power_up.title} in {@channel}[ for {custom_power_up.bits|number} bit{custom_power_up.bits|s}]',
  'channel-poll-begin': '{@channel} started a poll: {"title}',
  'channel-poll-progress': 'Votes in the poll of {@channel}: {"title}',
  'channel-poll-end': 'The poll of {@channel} ended[ ({status|words})]: {"title}',
  'channel-prediction-begin': '{@channel} started a prediction: {"title}',
  'channel-prediction-progress': 'Points in the prediction of {@channel}: {"title}',
  'channel-prediction-lock': 'The prediction of {@channel} is locked: {"title}',
  'channel-prediction-end': 'The prediction of {@channel} ended[ ({status|words})]: {"title}',
  'channel-suspicious_user-message': 'The suspicious user {@user} wrote in {@channel}[: {"message.text}]',
  'channel-suspicious_user-update': '{@moderator} marked {@user} in {@channel} as {low_trust_status|words}',
  'channel-vip-add': '{@user} became a VIP of {@channel}',
  'channel-vip-remove': '{@user} is no longer a VIP of {@channel}',
  'channel-warning-acknowledge': '{@user} acknowledged a warning in {@channel}',
  'channel-warning-send': '{@moderator} warned {@user} in {@channel}[: {"reason}]',
  'channel-charity_campaign-donate': '{@user} donated {amount|money} to {charity_name} through {@channel}',
  'channel-charity_campaign-start':
    '{@channel} started a campaign for {charity_name}[ with the goal {target_amount|money}]',
  'channel-charity_campaign-progress':
    'The campaign of {@channel} for {charity_name} has {current_amount|money}[ of {target_amount|money}]',
  'channel-charity_campaign-stop':
    'The campaign of {@channel} for {charity_name} ended with {current_amount|money}',
  'conduit-shard-disabled': 'The platform disabled shard {shard_id} of a conduit[: {status|words}]',
  'drop-entitlement-grant': 'The platform granted {events|count} drop{events|s}',
  'extension-bits_transaction-create':
    '{@user} bought {product.name} in {@channel}[ for {product.bits|number} bit{product.bits|s}]',
  'channel-goal-begin':
    '{@channel} set a goal[: {"description}][ ({current_amount|number} of {target_amount|number})]',
  'channel-goal-progress':
    'The goal of {@channel} is at {current_amount|number} of {target_amount|number}[: {"description}]',
  'channel-goal-end':
    'The goal of {@channel} ended at {current_amount|number} of {target_amount|number}[: {"description}]',
  'channel-hype_train-begin': 'A hype train began on {@channel}[, level {level}]',
  'channel-hype_train-progress':
    'The hype train of {@channel} is at level {level}[ with {progress|number} of {goal|number}]',
  'channel-hype_train-end': 'The hype train of {@channel} ended at level {level}',
  'channel-shield_mode-begin': '{@moderator} turned on shield mode for {@channel}',
  'channel-shield_mode-end': '{@moderator} turned off shield mode for {@channel}',
  'channel-shoutout-create': '{@channel} gave a shoutout to {@target}',
  'channel-shoutout-receive': '{@user} gave a shoutout to {@channel}',
  'stream-online': '{@channel} went live',
  'stream-offline': '{@channel} went offline',
  'user-authorization-grant': '{@user} connected the application',
  'user-authorization-revoke': '{@user} disconnected the application',
  'user-update': '{@user} changed their profile[: {"description}]',
  'user-whisper-message': '{@user} whispered to {@target}[: {"whisper.text}]',
  'subscription-revocation':
    'The platform ended the subscription to {type}[ of {@channel}][: {status|words}]',
};
