"""Query parameters that track a reader and do not select a resource.

Names in lower case, compared without case; a prefix counts only with its separator (`utm_`, not `utm`), so that
`utmost` or `spmd` stay. A name is listed here if its vendor documents the name or if the lists used by browsers agree:
Firefox StripOnShare.json, Brave query-filter.json, ClearURLs' global rules. Words that sites use for resources (`ref`,
`source`, `cid`, `mod`, `var`, `campaign_id`) are not listed, although some of those lists have them: an article that is
lost because its URL is taken for another article's costs more than an article that is fetched twice.
"""

from __future__ import annotations

import re
from typing import Final

# utm_*: Google Analytics, "Campaign URL builder"; hsa_*: HubSpot ads tracking; otm_*: ClearURLs' global rules.
NAMESPACES = ("utm_", "hsa_", "otm_")

# Google: click and linker identifiers (Ads help "auto-tagging"; gtag linker), older Analytics names.
_GOOGLE = """
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid gs_l _ga _gl _gac _gid
    ga_source ga_medium ga_term ga_content ga_campaign ga_place
    campaign_source campaign_medium campaign_name campaign_term campaign_content
"""
# Click identifiers of other advertisers, and parameters of their share buttons (Brave, Firefox, ClearURLs).
_CLICKS = """
    fbclid fb_action_ids fb_action_types fb_source fb_ref fb_comment_id mibextid
    action_object_map action_type_map action_ref_map
    igsh igshid ig_rid twclid __twitter_impression ref_src ref_url ttclid tt_medium tt_content rdt_cid li_fat_id sccid
    epik msclkid yclid ysclid ymclid ymid syclid _openstat irclickid irgwc cjevent awc ranmid raneaid ransiteid sscid
    tblci obclid dicbo oborigurl rb_clickid unicorn_click_id vgo_ee ceneo_spo
    guccounter guce_referrer guce_referrer_sig soc_src soc_trk spm spref os_ehash
    _branch_match_id _branch_referrer rtkcid
"""
# Newsletter and marketing automation: Mailchimp, HubSpot, Marketo, Eloqua, Klaviyo, MailerLite, Drip, Vero, Olytics,
# Omeda, Salesforce, Bluecore, Beehiiv, ConvertKit, Keap, Listrak, dotdigital, ClickDimensions, SharpSpring.
_MAIL = """
    mc_cid mc_eid mc_tc _hsenc _hsmi __hssc __hstc __hsfp hsctatracking
    mkt_tok elq elqtrack elqtrackid elqaid elqat elqak elqcampaignid _ke _kx ml_subscriber ml_subscriber_hash __s
    vero_id vero_conv oly_anon_id oly_enc_id wickedid sfmc_id sfmc_activityid et_rid bbeml bsft_clkid bsft_uid _bhlid
    at_recipient_id at_recipient_list ck_subscriber_id inf_contact_key omnisendcontactid
    oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk sms_click sms_source sms_uph
    trk_contact trk_msg trk_module trk_sid dm_i dm_t _cldee nr_email_referer
    ss_email_id ss_source ss_campaign_id ss_campaign_name ss_campaign_sent_date
    hmb_campaign hmb_medium hmb_source
"""
# Site analytics: Matomo ("Tracking campaigns"), Adobe, Marin, AT Internet / Piano, comScore, Webtrekk, Coremetrics,
# Echobox, and internal promotion (itm_*, "intcmp").
_ANALYTICS = """
    mtm_campaign mtm_keyword mtm_kwd mtm_source mtm_medium mtm_content mtm_cid mtm_group mtm_placement
    matomo_campaign matomo_keyword matomo_source matomo_medium matomo_content matomo_cid matomo_group matomo_placement
    pk_campaign pk_keyword pk_kwd pk_source pk_medium pk_content pk_cid piwik_campaign piwik_keyword piwik_kwd
    s_cid s_kwcid ef_id sc_cid sc_customer sc_eh sc_uid mkwid pcrid cmpid icid intcid intcmp
    xtor xtref at_medium at_campaign at_format at_creation at_variant at_network at_platform at_emailtype at_channel
    at_link_id at_link_type at_link_origin at_ptr_name at_custom1 at_custom2 at_custom3 at_custom4
    ns_campaign ns_source ns_mchannel ns_linkname ns_fee
    wt_mc wt_zmc wtmc wtzmc wtrid cm_mmc cm_mmca1 cm_mmca2 cm_ven cm_cat cm_pla cm_ite
    itm_campaign itm_content itm_medium itm_source itm_term vn_source vn_medium vn_campaign vn_content vn_term
    echobox tracking_source referrer
"""

EVERYWHERE = frozenset(f"{_GOOGLE} {_CLICKS} {_MAIL} {_ANALYTICS}".split())

# Names too general to be removed everywhere, each with the sites that use it for tracking only (Brave query-
# filter.json, ClearURLs).
BY_SITE: dict[str, frozenset[str]] = {
    "si": frozenset({"youtube.com", "youtu.be", "spotify.com"}),
    "s": frozenset({"twitter.com", "x.com"}),
    "t": frozenset({"twitter.com", "x.com"}),
}


# Identifiers of a reader's session that servers write into links for readers without cookies: Servlet containers, PHP,
# ASP, ColdFusion, osCommerce.
_SESSIONS = frozenset({"jsessionid", "phpsessid", "oscsid", "cfid", "cftoken"})
_SESSION_NAMES = ("aspsessionid",)
SESSION_PARAMETER: Final = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|session_id|sid|oscsid|cfid|cftoken|aspsessionid\w*)=[^;/]*", re.IGNORECASE
)
"""A session in the path (`/a;jsessionid=1`), where such names are parameters only (RFC 3986 section 3.3)."""


def is_tracking(name: str, host: str) -> bool:
    """True if the query parameter `name` (decoded) on `host` (lower case) tracks a reader, a session or a campaign.

    Characters that broken templates put before a name are ignored: `&amp;utm_source`, `??utm_source`.
    """
    bare = name.lower().lstrip("?").removeprefix("amp;")
    if bare in EVERYWHERE or bare in _SESSIONS or bare.startswith((*NAMESPACES, *_SESSION_NAMES)):
        return True
    return any(host == site or host.endswith(f".{site}") for site in BY_SITE.get(bare, ()))
