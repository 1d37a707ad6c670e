import { findEventType } from '@stream-events/platform-catalogue';
import type { EventPayload, PayloadBuilders, Scene } from './scene.js';
import { viewerBuilders } from './viewers.js';

const builders: PayloadBuilders = { ...viewerBuilders };

/** Whether events of this type can be made. */
export function canBuild(type: string): boolean {
  return findEventType(type) !== undefined && builders[type] !== undefined;
}

/**
 * Makes an event of this type, of its newest version unless another is named, with every field that it has.
 *
 * @throws RangeError for a type or version that the platform does not have
 */
export function buildEvent(type: string, version: string | undefined, scene: Scene): EventPayload {
  const build = builders[`${type}/${version ?? findEventType(type)?.version}`] ?? builders[type];
  if (build === undefined) throw new RangeError(`there is no event type ${type} of version ${version}`);
  return build(scene);
}
