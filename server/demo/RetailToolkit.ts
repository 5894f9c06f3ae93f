/**
 * Every tool of the desk and the layer of its handlers. A tool is one file in
 * `tools/`; adding one means naming it here twice.
 */
import { Context, Effect, type Schema } from "effect";
import { Toolkit } from "effect/unstable/ai";
import { SqlClient, type SqlError } from "effect/unstable/sql";

import { PaymentProvider } from "./payment-provider/PaymentProvider.ts";
import type { Refusal } from "./shop/Refusal.ts";
import { addCustomerNote, AddCustomerNote } from "./tools/add-customer-note.ts";
import { addOrderNote, AddOrderNote } from "./tools/add-order-note.ts";
import { calculate, Calculate } from "./tools/calculate.ts";
import { cancelPendingOrder, CancelPendingOrder } from "./tools/cancel-pending-order.ts";
import { chargePaymentMethod, ChargePaymentMethod } from "./tools/charge-payment-method.ts";
import { createReturnLabel, CreateReturnLabel } from "./tools/create-return-label.ts";
import { deleteCustomer, DeleteCustomer } from "./tools/delete-customer.ts";
import {
  exchangeDeliveredOrderItems,
  ExchangeDeliveredOrderItems,
} from "./tools/exchange-delivered-order-items.ts";
import { findUserIdByEmail, FindUserIdByEmail } from "./tools/find-user-id-by-email.ts";
import { findUserIdByNameZip, FindUserIdByNameZip } from "./tools/find-user-id-by-name-zip.ts";
import { getOrderDetails, GetOrderDetails } from "./tools/get-order-details.ts";
import { getProductDetails, GetProductDetails } from "./tools/get-product-details.ts";
import { getUserDetails, GetUserDetails } from "./tools/get-user-details.ts";
import { issueRefund, IssueRefund } from "./tools/issue-refund.ts";
import { listAllProductTypes, ListAllProductTypes } from "./tools/list-all-product-types.ts";
import { listMoneyRequests, ListMoneyRequests } from "./tools/list-money-requests.ts";
import { listSentMail, ListSentMail } from "./tools/list-sent-mail.ts";
import {
  modifyPendingOrderAddress,
  ModifyPendingOrderAddress,
} from "./tools/modify-pending-order-address.ts";
import {
  modifyPendingOrderItems,
  ModifyPendingOrderItems,
} from "./tools/modify-pending-order-items.ts";
import {
  modifyPendingOrderPayment,
  ModifyPendingOrderPayment,
} from "./tools/modify-pending-order-payment.ts";
import { modifyUserAddress, ModifyUserAddress } from "./tools/modify-user-address.ts";
import { quoteShipping, QuoteShipping } from "./tools/quote-shipping.ts";
import { reportOrderStatuses, ReportOrderStatuses } from "./tools/report-order-statuses.ts";
import { reportRefunds, ReportRefunds } from "./tools/report-refunds.ts";
import { reportSalesByProduct, ReportSalesByProduct } from "./tools/report-sales-by-product.ts";
import { reportTopCustomers, ReportTopCustomers } from "./tools/report-top-customers.ts";
import {
  returnDeliveredOrderItems,
  ReturnDeliveredOrderItems,
} from "./tools/return-delivered-order-items.ts";
import { searchOrders, SearchOrders } from "./tools/search-orders.ts";
import { searchProducts, SearchProducts } from "./tools/search-products.ts";
import { sendEmail, SendEmail } from "./tools/send-email.ts";
import { think, Think } from "./tools/think.ts";
import { trackShipment, TrackShipment } from "./tools/track-shipment.ts";
import { transferToHumanAgents, TransferToHumanAgents } from "./tools/transfer-to-human-agents.ts";

export const RetailToolkit = Toolkit.make(
  // orders
  AddOrderNote,
  CancelPendingOrder,
  ExchangeDeliveredOrderItems,
  GetOrderDetails,
  GetProductDetails,
  ListAllProductTypes,
  ModifyPendingOrderItems,
  ReturnDeliveredOrderItems,
  SearchOrders,
  SearchProducts,
  // payments
  Calculate,
  ChargePaymentMethod,
  IssueRefund,
  ListMoneyRequests,
  ModifyPendingOrderPayment,
  // shipping
  CreateReturnLabel,
  ModifyPendingOrderAddress,
  QuoteShipping,
  TrackShipment,
  // customers
  AddCustomerNote,
  DeleteCustomer,
  FindUserIdByEmail,
  FindUserIdByNameZip,
  GetUserDetails,
  ModifyUserAddress,
  Think,
  TransferToHumanAgents,
  // mail
  ListSentMail,
  SendEmail,
  // reports
  ReportOrderStatuses,
  ReportRefunds,
  ReportSalesByProduct,
  ReportTopCustomers,
);

type ShopServices = SqlClient.SqlClient | PaymentProvider;
type HandlerFailure = Refusal | SqlError.SqlError | Schema.SchemaError;

const isRefusal = <E extends HandlerFailure>(error: E): error is Extract<E, Refusal> =>
  error._tag === "Refusal";

/**
 * Gives a handler the shop's services as they were when the layer was built, and
 * nothing else of that moment: the running call's own context stays. A database
 * that fails is no answer of the shop's, so it becomes a defect.
 */
const withShop =
  (shop: Context.Context<ShopServices>) =>
  <P, A, E extends HandlerFailure>(handler: (parameters: P) => Effect.Effect<A, E, ShopServices>) =>
  (parameters: P): Effect.Effect<A, Extract<E, Refusal>> =>
    handler(parameters).pipe(
      Effect.catch((error) => (isRefusal(error) ? Effect.fail(error) : Effect.die(error))),
      Effect.provideContext(shop),
    );

export const RetailHandlers = RetailToolkit.toLayer(
  Effect.gen(function* () {
    const shop = Context.make(SqlClient.SqlClient, yield* SqlClient.SqlClient).pipe(
      Context.add(PaymentProvider, yield* PaymentProvider),
    );
    const served = withShop(shop);
    return RetailToolkit.of({
      add_customer_note: served(addCustomerNote),
      add_order_note: served(addOrderNote),
      calculate: served(calculate),
      cancel_pending_order: served(cancelPendingOrder),
      charge_payment_method: served(chargePaymentMethod),
      create_return_label: served(createReturnLabel),
      delete_customer: served(deleteCustomer),
      exchange_delivered_order_items: served(exchangeDeliveredOrderItems),
      find_user_id_by_email: served(findUserIdByEmail),
      find_user_id_by_name_zip: served(findUserIdByNameZip),
      get_order_details: served(getOrderDetails),
      get_product_details: served(getProductDetails),
      get_user_details: served(getUserDetails),
      issue_refund: served(issueRefund),
      list_all_product_types: served(listAllProductTypes),
      list_money_requests: served(listMoneyRequests),
      list_sent_mail: served(listSentMail),
      modify_pending_order_address: served(modifyPendingOrderAddress),
      modify_pending_order_items: served(modifyPendingOrderItems),
      modify_pending_order_payment: served(modifyPendingOrderPayment),
      modify_user_address: served(modifyUserAddress),
      quote_shipping: served(quoteShipping),
      report_order_statuses: served(reportOrderStatuses),
      report_refunds: served(reportRefunds),
      report_sales_by_product: served(reportSalesByProduct),
      report_top_customers: served(reportTopCustomers),
      return_delivered_order_items: served(returnDeliveredOrderItems),
      search_orders: served(searchOrders),
      search_products: served(searchProducts),
      send_email: served(sendEmail),
      think: served(think),
      track_shipment: served(trackShipment),
      transfer_to_human_agents: served(transferToHumanAgents),
    });
  }),
);
