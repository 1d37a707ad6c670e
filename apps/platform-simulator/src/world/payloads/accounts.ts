import { createPhrase } from './chat-texts.js';
import { identify, type PayloadBuilders, type Scene } from './scene.js';

/** Events about users' accounts and the application. Most concern no channel. */
export const accountBuilders: PayloadBuilders = {
  /** Omits the e-mail address, which is optional: simulated users have none. */
  'user.update': ({ random, listener }) => ({
    ...identify('user', listener),
    email_verified: random.chance(0.9),
    description: createPhrase(random),
  }),
  'user.whisper.message': ({ random, listener, otherViewer }) => ({
    ...identify('from_user', otherViewer),
    ...identify('to_user', listener),
    whisper_id: random.uuid(),
    whisper: { text: createPhrase(random) },
  }),
  'user.authorization.grant': (scene) => ({ client_id: clientOf(scene), ...identify('user', scene.viewer) }),
  /** If the account is deleted, only the user's id remains. */
  'user.authorization.revoke': (scene) => {
    const { random, viewer } = scene;
    const isGone = random.chance(0.3);
    return {
      client_id: clientOf(scene),
      user_id: viewer.id,
      user_login: isGone ? null : viewer.login,
      user_name: isGone ? null : viewer.name,
    };
  },
  'conduit.shard.disabled': ({ random, condition, now }) => {
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
  },
  /** One event of a batch. */
  'drop.entitlement.grant': ({ random, condition, viewer, channel, now }) => ({
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
  }),
  'extension.bits_transaction.create': ({ random, condition, userFields }) => ({
    extension_client_id: condition.extension_client_id ?? random.uuid().replaceAll('-', ''),
    id: random.uuid(),
    ...userFields,
    product: { name: 'Confetti', bits: random.pick([10, 100]), sku: 'confetti', in_development: false },
  }),
};

function clientOf({ condition, random }: Scene): string {
  return condition.client_id ?? random.uuid().replaceAll('-', '');
}
