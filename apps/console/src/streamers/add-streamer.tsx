import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { streamersQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';

export function AddStreamer({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => call(api().POST('/api/v1/streamers', { body: { platform_username: name.trim() } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: streamersQuery.queryKey });
      onClose();
    },
  });
  const fieldErrors = add.error instanceof ApiError ? add.error.fieldErrors : {};
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <Modal opened onClose={onClose} title="Add a streamer" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Username"
            description="The name on the platform. From now on, the service records when this user is live."
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            error={fieldErrors.platform_username}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={64}
            required
            withAsterisk={false}
            data-autofocus
          />
          {add.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={add.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending}>
              Add streamer
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
