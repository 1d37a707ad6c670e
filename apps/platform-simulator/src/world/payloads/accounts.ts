import { createPhrase } from './chat-texts.js';
import { identify, type EventPayload, type PayloadBuilders, type Scene } from './scene.js';

/** Events about users' accounts and the application. Most concern no channel. */
export const accountBuilders: PayloadBuilders = {
  'user.update': updateUser,
  'user.whisper.message': whisper,
  'user.authorization.grant': (scene) => ({ client_id: clientOf(scene), ...identify('user', scene.viewer) }),
  'user.authorization.revoke': revokeAuthorization,
  'conduit.shard.disabled': disableShard,
  'drop.entitlement.grant': grantDrop,
  'extension.bits_transaction.create': buyFromExtension,
};

function clientOf({ condition, random }: Scene): string {
  return condition.client_id ?? random.uuid().replaceAll('-', '');
}

/** Omits the e-mail address, which is optional: simulated users have none. */
function updateUser({ random, listener }: Scene): EventPayload {
  return {
    ...identify('user', listener),
    email_verified: random.chance(0.9),
    description: createPhrase(random),
  };
}

function whisper({ random, listener, otherViewer }: Scene): EventPayload {
  return {
    ...identify('from_user', otherViewer),
    ...identify('to_user', listener),
    whisper_id: random.uuid(),
    whisper: { text: createPhrase(random) },
  };
}

/** If the account is deleted, only the user's id remains. */
function revokeAuthorization(scene: Scene): EventPayload {
  const { random, viewer } = scene;
  const isGone = random.chance(0.3);
  return {
    client_id: clientOf(scene),
    user_id: viewer.id,
    user_login: isGone ? null : viewer.login,
    user_name: isGone ? null : viewer.name,
  };
}

function disableShard({ random, condition, now }: Scene): EventPayload {
  const isWebhook = random.chance(0.5);
  return {
    conduit_id: condition.conduit_id ?? random.uuid(),
    shard_id: String(random.integer(0, 4)),
    status: isWebhook ? 'notification_failures_exceeded' : 'websocket_disconnected',
    transport: {
      method: isWebhook ? 'webhook' : 'websocket',
      callback: isWebhook ? 'https://simulation.invalid/webhook' : null,
      session_id: isWebhook ? null : random.uuid(),
      connected_at: isWebhook ? null : now.toISOString(),
      disconnected_at: isWebhook ? null : now.toISOString(),
    },
  };
}

/** One event of a batch. */
function grantDrop({ random, condition, viewer, channel, now }: Scene): EventPayload {
  return {
    id: random.uuid(),
    data: {
      organization_id: condition.organization_id ?? random.digits(4),
      category_id: condition.category_id ?? channel.category.id,
      category_name: channel.category.name,
      campaign_id: condition.campaign_id ?? random.uuid(),
      ...identify('user', viewer),
      entitlement_id: random.uuid(),
      benefit_id: random.uuid(),
      created_at: now.toISOString(),
    },
  };
}

function buyFromExtension(scene: Scene): EventPayload {
  const { random, condition } = scene;
  return {
    extension_client_id: condition.extension_client_id ?? random.uuid().replaceAll('-', ''),
    id: random.uuid(),
    ...scene.userFields,
    product: { name: 'Confetti', bits: random.pick([10, 100]), sku: 'confetti', in_development: false },
  };
}
