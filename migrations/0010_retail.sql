-- The shop of the retail desk: an application's own tables beside the runtime's.
-- A real adopter's shop would sit in another database; nothing of the runtime
-- reads these tables, only the desk's tool handlers do.
--
-- Money is integer cents. `recorded_amount` of a payment is the figure an order
-- shows in its history and is never paid or added up; `amount_cents` is what moves.
CREATE SCHEMA retail;

CREATE TABLE retail.customers (
  user_id     text PRIMARY KEY,
  first_name  text NOT NULL,
  last_name   text NOT NULL,
  email       text NOT NULL,
  address     jsonb NOT NULL,
  order_ids   text[] NOT NULL DEFAULT '{}',
  deleted_at  timestamptz
);
CREATE UNIQUE INDEX one_customer_per_email ON retail.customers (lower(email)) WHERE deleted_at IS NULL;
CREATE INDEX customers_by_name ON retail.customers (lower(last_name), lower(first_name));

CREATE TABLE retail.payment_methods (
  user_id            text NOT NULL REFERENCES retail.customers (user_id) ON DELETE CASCADE,
  payment_method_id  text NOT NULL,
  position           integer NOT NULL,
  source             text NOT NULL CHECK (source IN ('credit_card', 'gift_card', 'paypal')),
  brand              text,
  last_four          text,
  balance_cents      bigint,
  PRIMARY KEY (user_id, payment_method_id),
  CONSTRAINT only_gift_cards_hold_a_balance CHECK ((source = 'gift_card') = (balance_cents IS NOT NULL)),
  CONSTRAINT gift_cards_never_go_below_zero CHECK (balance_cents >= 0)
);

CREATE TABLE retail.products (
  product_id  text PRIMARY KEY,
  name        text NOT NULL
);

CREATE TABLE retail.variants (
  item_id      text PRIMARY KEY,
  product_id   text NOT NULL REFERENCES retail.products (product_id),
  position     integer NOT NULL,
  options      json NOT NULL,
  available    boolean NOT NULL,
  price_cents  bigint NOT NULL CHECK (price_cents >= 0)
);
CREATE INDEX variants_by_product ON retail.variants (product_id, position);

CREATE TABLE retail.orders (
  order_id                         text PRIMARY KEY,
  user_id                          text NOT NULL REFERENCES retail.customers (user_id),
  address                          jsonb NOT NULL,
  fulfillments                     jsonb NOT NULL,
  status                           text NOT NULL CHECK (status IN (
    'pending', 'pending (item modified)', 'processed', 'delivered', 'cancelled',
    'return requested', 'exchange requested')),
  cancel_reason                    text,
  return_items                     text[],
  return_payment_method_id         text,
  exchange_items                   text[],
  exchange_new_items               text[],
  exchange_payment_method_id       text,
  exchange_price_difference_cents  bigint
);
CREATE INDEX orders_by_customer ON retail.orders (user_id);
CREATE INDEX orders_by_status ON retail.orders (status);

CREATE TABLE retail.order_items (
  order_id     text NOT NULL REFERENCES retail.orders (order_id) ON DELETE CASCADE,
  position     integer NOT NULL,
  item_id      text NOT NULL,
  product_id   text NOT NULL,
  name         text NOT NULL,
  price_cents  bigint NOT NULL CHECK (price_cents >= 0),
  options      json NOT NULL,
  PRIMARY KEY (order_id, position)
);
CREATE INDEX order_items_by_product ON retail.order_items (product_id);

CREATE TABLE retail.order_payments (
  order_id           text NOT NULL REFERENCES retail.orders (order_id) ON DELETE CASCADE,
  position           integer NOT NULL,
  transaction_type   text NOT NULL CHECK (transaction_type IN ('payment', 'refund')),
  amount_cents       bigint NOT NULL CHECK (amount_cents >= 0),
  recorded_amount    numeric NOT NULL CHECK (recorded_amount >= 0),
  payment_method_id  text NOT NULL,
  PRIMARY KEY (order_id, position)
);

-- Money asked of the payment provider. The row is written before the request is
-- sent and keeps the key it was sent with, so `requested` without an answer says
-- exactly what may have happened.
CREATE TABLE retail.provider_requests (
  idempotency_key    text PRIMARY KEY,
  kind               text NOT NULL CHECK (kind IN ('refund', 'charge')),
  order_id           text NOT NULL REFERENCES retail.orders (order_id) ON DELETE CASCADE,
  payment_method_id  text NOT NULL,
  amount_cents       bigint NOT NULL CHECK (amount_cents > 0),
  reason             text NOT NULL,
  state              text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'completed', 'declined', 'not sent')),
  -- Tries under the key since it was last known not to be sent: with two, one that was not sent proves nothing.
  tries              integer NOT NULL DEFAULT 1,
  provider_id        text,
  decline_reason     text,
  requested_at       timestamptz NOT NULL DEFAULT now(),
  answered_at        timestamptz,
  CONSTRAINT a_completed_request_names_its_provider_id CHECK (state <> 'completed' OR provider_id IS NOT NULL)
);
CREATE INDEX provider_requests_by_order ON retail.provider_requests (order_id, requested_at);

-- One row per tool call whose effect is in these tables, written in the same
-- transaction as the effect: what makes an `idempotent` tool safe to run again.
CREATE TABLE retail.applied_calls (
  idempotency_key  text PRIMARY KEY,
  tool_name        text NOT NULL,
  result           json NOT NULL,
  applied_at       timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE retail.outbox (
  mail_id     text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  user_id     text NOT NULL REFERENCES retail.customers (user_id) ON DELETE CASCADE,
  recipient   text NOT NULL,
  subject     text NOT NULL,
  body        text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_by_customer ON retail.outbox (user_id, created_at);

CREATE TABLE retail.notes (
  note_id      text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  about        text NOT NULL CHECK (about IN ('customer', 'order')),
  about_id     text NOT NULL,
  text         text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notes_by_subject ON retail.notes (about, about_id, created_at);

CREATE TABLE retail.return_labels (
  label_id    text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  order_id    text NOT NULL REFERENCES retail.orders (order_id) ON DELETE CASCADE,
  carrier     text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX one_label_per_order_and_carrier ON retail.return_labels (order_id, carrier);

CREATE TABLE retail.transfers (
  transfer_id  text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  summary      text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);

-- Which data set the shop was loaded from; a row here means the load is whole.
CREATE TABLE retail.loaded_data_set (
  only_one   boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  name       text NOT NULL,
  customers  integer NOT NULL,
  orders     integer NOT NULL,
  products   integer NOT NULL,
  loaded_at  timestamptz NOT NULL DEFAULT now()
);
