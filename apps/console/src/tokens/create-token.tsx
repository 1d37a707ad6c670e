import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { SecretNotice } from '../kit/secret-notice.js';
import { LifetimeField, toExpires, TokenFields, toTokenBody, type TokenDraft } from './token-fields.js';
import { tokensKey } from './tokens-query.js';

const emptyDraft: TokenDraft = {
  name: '',
  scopes: ['events:read', 'events:live'],
  eventTypes: [],
  channelIds: [],
};

/** Creates a named token. Its key is shown only once. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(emptyDraft);
  const [days, setDays] = useState('');
  const create = useMutation({
    mutationFn: () =>
      call(
        api().POST('/api/v1/tokens', {
          body: { ...toTokenBody(draft), expires: toExpires(days) },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensKey }),
  });
  const fieldErrors = create.error instanceof ApiError ? create.error.fieldErrors : {};
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={create.data ? 'The token was created' : 'Create a token'}
      size="lg"
      closeOnClickOutside={!create.data}
      closeOnEscape={!create.data}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {create.data ? (
        <SecretNotice label={`Key of ${create.data.name}`} secret={create.data.key} onDone={onClose}>
          Give the key to your program, which sends it as <code>Authorization: Token …</code>. Give each
          program its own token.
        </SecretNotice>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TokenFields draft={draft} onChange={setDraft} errors={fieldErrors} />
            <LifetimeField value={days} onChange={setDays} error={fieldErrors.expires} />
            {create.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={create.error} />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={create.isPending}>
                Create token
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
