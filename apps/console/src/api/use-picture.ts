import { useCallback, useSyncExternalStore } from 'react';
import { api, call } from './api.js';
import { Pictures, type PictureKind } from './pictures.js';

const pictures = new Pictures((kind, id) => {
  const request = { params: { path: { id } }, parseAs: 'blob' } as const;
  return kind === 'users'
    ? call(api().GET('/api/v1/platform/users/{id}/picture', request))
    : call(api().GET('/api/v1/platform/categories/{id}/picture', request));
});

/** Loads a picture and returns its blob URL; undefined if the picture is not loaded yet or does not exist. */
export function usePicture(kind: PictureKind, id: string | undefined): string | undefined {
  const subscribe = useCallback(
    (observer: () => void) => (id === undefined ? () => undefined : pictures.want(kind, id, observer)),
    [kind, id],
  );
  return useSyncExternalStore(subscribe, () => (id === undefined ? undefined : pictures.find(kind, id)));
}
