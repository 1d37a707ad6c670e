import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { printTime } from '../kit/time.js';
import { LifetimeField, toExpires, TokenFields, toTokenBody, type TokenDraft } from './token-fields.js';
import { tokensKey } from './tokens-query.js';

interface EditTokenProps {
  token: components['schemas']['TokenRecord'];
  onClose: () => void;
}

const unchanged = 'unchanged';

/** Changes a token's name, rights, limits, and expiry. The key stays the same. */
export function EditToken({ token, onClose }: EditTokenProps) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<TokenDraft>({
    name: token.name,
    scopes: token.scopes ?? [],
    eventTypes: token.event_types ?? [],
    channelIds: token.channel_ids ?? [],
  });
  const [days, setDays] = useState(unchanged);
  const save = useMutation({
    mutationFn: () =>
      call(
        api().PATCH('/api/v1/tokens/{id}', {
          params: { path: { id: token.id } },
          body: { ...toTokenBody(draft), ...(days !== unchanged && { expires: toExpires(days) }) },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: tokensKey });
      onClose();
    },
  });
  const fieldErrors = save.error instanceof ApiError ? save.error.fieldErrors : {};
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Change the token"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TokenFields draft={draft} onChange={setDraft} errors={fieldErrors} />
          <LifetimeField
            value={days}
            onChange={setDays}
            error={fieldErrors.expires}
            unchanged={{
              value: unchanged,
              label: `Unchanged: until ${token.expires ? printTime(token.expires) : 'it is revoked'}`,
            }}
          />
          {save.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={save.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
