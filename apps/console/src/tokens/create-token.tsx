import { Button, Checkbox, Group, Modal, MultiSelect, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { eventTypesQuery, streamersQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { SecretNotice } from '../kit/secret-notice.js';
import { tokenScopes, type Scope } from './token-scopes.js';
import { tokensKey } from './token-table.js';

const dayMs = 86_400_000;

const lifetimes = [
  { value: '', label: 'Until it is revoked' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
];

/** Creates a named token, and shows its key once. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>(['events:read', 'events:live']);
  const [eventTypes, setEventTypes] = useState<string[]>([]);
  const [channelIds, setChannelIds] = useState<string[]>([]);
  const [days, setDays] = useState('');
  const create = useMutation({
    mutationFn: () =>
      call(
        api().POST('/api/v1/tokens', {
          body: {
            name,
            scopes: scopes as Scope[], // Safe cast: the values of the checkboxes.
            event_types: eventTypes.length > 0 ? eventTypes : null,
            channel_ids: channelIds.length > 0 ? channelIds : null,
            expires: days ? new Date(Date.now() + Number(days) * dayMs).toISOString() : null,
          },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensKey }),
  });
  const fieldErrors = create.error instanceof ApiError ? create.error.fieldErrors : {};
  const isLimited = eventTypes.length > 0 || channelIds.length > 0;
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
            <TextInput
              label="Name"
              description="The program that uses the token, so that you recognize it later"
              placeholder="Alerts overlay"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              error={fieldErrors.name}
              maxLength={64}
              required
              withAsterisk={false}
              data-autofocus
            />
            <Checkbox.Group
              label="The token may"
              value={scopes}
              onChange={setScopes}
              error={fieldErrors.scopes}
            >
              <Stack gap={6} mt={4}>
                {tokenScopes.map(({ scope, text, isLimitable }) => (
                  <Checkbox
                    key={scope}
                    value={scope}
                    label={text}
                    size="xs"
                    disabled={isLimited && !isLimitable}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
            <EventTypeLimit value={eventTypes} onChange={setEventTypes} error={fieldErrors.event_types} />
            <ChannelLimit value={channelIds} onChange={setChannelIds} error={fieldErrors.channel_ids} />
            {isLimited && (
              <Text size="xs" c="dimmed">
                A limited token can only read, because with the other rights it could do more than its limits
                say.
              </Text>
            )}
            <Select
              label="Valid"
              data={lifetimes}
              value={days}
              onChange={(value) => setDays(value ?? '')}
              allowDeselect={false}
              error={fieldErrors.expires}
              maw={240}
            />
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

interface LimitProps {
  value: string[];
  onChange: (value: string[]) => void;
  error: string | undefined;
}

function EventTypeLimit(props: LimitProps) {
  const { data: types = [] } = useQuery(eventTypesQuery);
  return (
    <MultiSelect
      label="Only these event types"
      placeholder={props.value.length === 0 ? 'All event types' : ''}
      data={[...new Set(types.map(({ event_type }) => event_type))]}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Allow all event types' }}
      maxValues={100}
      {...props}
    />
  );
}

function ChannelLimit(props: LimitProps) {
  const { data: streamers = [] } = useQuery(streamersQuery);
  const [search, setSearch] = useState('');
  const known = streamers.map(({ platform_id: value, platform_username: label }) => ({ value, label }));
  // The channel of a raid, for example, need not be a monitored streamer.
  const others = [...props.value, search]
    .filter((id) => /^\d{1,20}$/.test(id) && known.every(({ value }) => value !== id))
    .map((id) => ({ value: id, label: `Channel ${id}` }));
  return (
    <MultiSelect
      label="Only these channels"
      description="Choose streamers, or type the id of another channel"
      placeholder={props.value.length === 0 ? 'All channels' : ''}
      data={[...known, ...new Map(others.map((each) => [each.value, each])).values()]}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      clearable
      clearButtonProps={{ 'aria-label': 'Allow all channels' }}
      maxValues={100}
      {...props}
    />
  );
}
